"""Chopin's storage ports on PostgreSQL, and a PostgreSQL server that needs no installation."""
