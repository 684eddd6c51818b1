"""Chopin on one person's own machine: no GitHub, no accounts, the loopback interface only."""
