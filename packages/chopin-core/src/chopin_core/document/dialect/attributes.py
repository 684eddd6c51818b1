"""What the attributes of each component must be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Final

import attrs

from chopin_core.document.dialect.tree import Node
from chopin_core.document.tags import AttributeKind
from chopin_core.errors import SourceIssue
from chopin_core.ids import STORED_ID

_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE | re.ASCII)
_REFERENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
_PIXELS: Final = re.compile(r"[0-9]{1,4}", re.ASCII)
WIDEST_IMAGE: Final = 4096


def is_id(value: str) -> bool:
    """An id that was ever minted here, or a ULID."""
    return bool(STORED_ID.fullmatch(value) or _ULID.fullmatch(value))


@attrs.frozen(kw_only=True)
class Attribute:
    """``code`` is what a value is refused with that ``shape`` does not match, ``empty`` whether nothing may stand there."""

    required: bool = False
    empty: bool = False
    longest: int | None = None
    words: frozenset[str] | None = None
    code: str = "bad-attribute-value"


ID: Final = Attribute(required=True, code="bad-id")
