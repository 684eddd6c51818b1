"""What Chopin costs, measured side by side with what it is compared to; see ``__main__``."""
