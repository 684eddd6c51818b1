"""What a source from an agent may contain, one family of rules per module."""
