"""Chopin as people and agents meet it: real browsers and a real MCP client against a real process."""
