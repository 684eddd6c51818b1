"""Which text a column can keep, and which an index can hold: the rules that adapters rely on instead of having their own."""

from __future__ import annotations

from typing import Any, Final

import attrs

from chopin_core.errors import InvalidField

LONGEST_KEY: Final = 1024
"""Bytes of UTF-8. An index of PostgreSQL holds two keys of this length together, and not much more."""


def storable(value: str, field: str) -> str:
    """
    The value itself, once it is known that every adapter can keep it.

    Raises:
        InvalidField: it holds U+0000 or an unpaired surrogate, which PostgreSQL's ``text`` cannot (storage spec §0.5).
    """
    if "\0" in value:
        raise InvalidField(field, "holds a NUL character")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidField(field, "holds an unpaired surrogate") from error
    return value


def storable_field(instance: Any, attribute: attrs.Attribute[Any], value: str | None) -> None:
    """:func:`storable` as an attrs validator; an absent value passes."""
    if value is not None:
        storable(value, attribute.name)


def named_field(instance: Any, attribute: attrs.Attribute[Any], value: str | None) -> None:
    """An attrs validator: text that can be stored, and not the empty one; an absent value passes."""
    if value is not None and not storable(value, attribute.name):
        raise InvalidField(attribute.name, "is empty")


def key(value: str, field: str) -> str:
    """
    The value itself, once it is known that every adapter can keep it and find it again by it.

    Raises:
        InvalidField: it is not :func:`storable`, or has more than :data:`LONGEST_KEY` bytes.
    """
    if len(storable(value, field).encode()) > LONGEST_KEY:
        raise InvalidField(field, f"has more than {LONGEST_KEY} bytes")
    return value


def key_field(instance: Any, attribute: attrs.Attribute[Any], value: str | None) -> None:
    """:func:`key` as an attrs validator; an absent value passes."""
    if value is not None:
        key(value, attribute.name)
