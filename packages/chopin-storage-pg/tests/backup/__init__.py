"""Tests of backups and of what comes back from them."""
