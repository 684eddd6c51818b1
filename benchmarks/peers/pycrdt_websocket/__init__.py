"""pycrdt-websocket: the server of Jupyter's real-time collaboration."""
