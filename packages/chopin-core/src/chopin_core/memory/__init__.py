"""The in-memory adapter: for embedders' tests, for unit tests, and as the model that other adapters are compared with."""
