"""Proofs of what the product promises, run against real processes: by command in full, and in short form by the tests."""
