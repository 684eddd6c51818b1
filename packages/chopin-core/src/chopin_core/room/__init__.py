"""One open document, live: who is there, what they change, and how it becomes durable before anyone is told."""
