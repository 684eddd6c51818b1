"""Rooms don't leak: thousands are opened, refused and closed, and memory stays where it was."""
