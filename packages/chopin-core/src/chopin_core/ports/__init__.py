"""What the core needs from outside, one Protocol per file; adapters do not inherit from them."""
