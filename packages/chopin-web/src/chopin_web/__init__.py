"""The web shell: HTTP, the document socket, the browser client and the command."""
