"""Hostile bytes against a live server: what is sent, who writes honestly meanwhile, and what must be true afterwards."""
