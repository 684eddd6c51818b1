"""The MCP shell: Chopin for coding agents."""
