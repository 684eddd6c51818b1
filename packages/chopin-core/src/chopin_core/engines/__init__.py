"""Libraries that provide a shared text; the only modules that import them."""
