"""Which text a plain column can keep: the one rule both adapters rely on instead of having their own."""

from __future__ import annotations

from typing import Any

import attrs

from chopin_core.errors import InvalidField


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
