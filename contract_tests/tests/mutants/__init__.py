"""Adapters with one fault each, grouped by what is wrong with them; ``test_mutants.py`` lists them all."""
