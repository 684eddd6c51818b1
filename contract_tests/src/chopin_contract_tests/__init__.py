"""The shared suite that proves a storage adapter of Chopin; run it with ``pytest --pyargs chopin_contract_tests``."""
