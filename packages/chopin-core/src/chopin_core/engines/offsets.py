"""From Python string indices to UTF-16 units and back; positions and clocks count the latter."""

from __future__ import annotations


def utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def utf16_index(text: str, index: int) -> int:
    """The units before a string index."""
    return index if text.isascii() else utf16_length(text[:index])


def string_index(text: str, units: int) -> int:
    """The string index that many units in; inside a character it is the index of that character."""
    return units if text.isascii() else len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", "ignore"))
