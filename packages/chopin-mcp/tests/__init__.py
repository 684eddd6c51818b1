"""Tests of the MCP shell, over the memory adapter."""
