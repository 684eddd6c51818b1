"""Every storage port in memory: for tests, and as the model that other adapters are compared with. Not for real documents."""
