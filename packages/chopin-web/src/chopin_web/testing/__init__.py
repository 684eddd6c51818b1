"""A served Chopin and the people on it, for tests, proofs and benchmarks: needs the extra ``chopin-web[testing]``."""
