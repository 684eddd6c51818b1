"""Background jobs: what one is, and the rules by which it moves. Storage locks and keeps; nothing here does."""
