"""Hocuspocus: the server that Tiptap's makers publish for Yjs."""
