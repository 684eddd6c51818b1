"""The rules of Chopin's durable documents, and the ports through which they meet the world."""
