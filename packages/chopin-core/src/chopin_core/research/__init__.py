"""Research requests: the workspace of one, its turns and its transcript, and the rules by which they move."""
