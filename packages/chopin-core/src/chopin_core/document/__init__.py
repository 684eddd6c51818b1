"""The text of a document: its blocks, its canonical form, and what it may contain."""
