"""One tag of a component, as MDX reads it: where it ends, its name and its attributes."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

_NAME: Final = re.compile(r"[A-Za-z_$][\w$.:-]*")
_SPACE: Final = re.compile(r"[ \t\n]*")
_UNQUOTED: Final = re.compile(r"[^\s>/\"'{}<=]+")
_LONGEST_EXPRESSION: Final = 100
"""An expression is refused whatever it says; a longer one need not be read to its end."""


class TagKind(Enum):
    OPEN = "open"
    CLOSE = "close"
    EMPTY = "empty"


class AttributeKind(Enum):
    QUOTED = "quoted"
    BARE = "bare"
    EXPRESSION = "expression"
    SPREAD = "spread"


class Attribute(NamedTuple):
    """``value`` is what stands between the quotes, character references not resolved."""

    name: str
    value: str
    kind: AttributeKind


class Tag(NamedTuple):
    """``text[start:end]``. A fragment (``<>``) has an empty name."""

    name: str
    kind: TagKind
    attributes: tuple[Attribute, ...]
    start: int
    end: int

    @property
    def plain(self) -> bool:
        """Whether it carries nothing that MDX would evaluate or complete by itself."""
        return all(attribute.kind is AttributeKind.QUOTED for attribute in self.attributes)


def read_tag(text: str, start: int, stop: int | None = None) -> Tag | None:
    """The tag that begins at ``start`` and ends before ``stop``, or None. Costs its own length."""
    stop = len(text) if stop is None else stop
    at = start + 1
    closing = text.startswith("/", at, stop)
    at += closing
    name = _NAME.match(text, at, stop)
    if name is not None:
        at = name.end()
    elif not text.startswith(">", at, stop):
        return None
    attributes: list[Attribute] = []
    while True:
        spaced = at
        at = _skip(text, at, stop)
        if text.startswith(">", at, stop):
            kind = TagKind.CLOSE if closing else TagKind.OPEN
            return Tag(name[0] if name else "", kind, tuple(attributes), start, at + 1)
        if text.startswith("/", at, stop):
            at = _skip(text, at + 1, stop)
            if closing or name is None or not text.startswith(">", at, stop):
                return None
            return Tag(name[0], TagKind.EMPTY, tuple(attributes), start, at + 1)
        found = None if closing or name is None else _attribute(text, at, stop)
        if found is None or (at == spaced and not attributes):
            return None
        attribute, at = found
        attributes.append(attribute)


def _skip(text: str, at: int, stop: int) -> int:
    space = _SPACE.match(text, at, stop)
    return space.end() if space else at


def _attribute(text: str, at: int, stop: int) -> tuple[Attribute, int] | None:
    if text.startswith("{", at, stop):
        end = _expression_end(text, at, stop)
        return None if end is None else (Attribute("", text[at + 1 : end - 1], AttributeKind.SPREAD), end)
    name = _NAME.match(text, at, stop)
    if name is None:
        return None
    at = _skip(text, name.end(), stop)
    if not text.startswith("=", at, stop):
        return Attribute(name[0], "", AttributeKind.BARE), name.end()
    at = _skip(text, at + 1, stop)
    quote = text[at : at + 1]
    if quote in ('"', "'") and at < stop:
        end = text.find(quote, at + 1, stop)
        return None if end < 0 else (Attribute(name[0], text[at + 1 : end], AttributeKind.QUOTED), end + 1)
    if quote == "{":
        closed = _expression_end(text, at, stop)
        return None if closed is None else (Attribute(name[0], text[at:closed], AttributeKind.EXPRESSION), closed)
    unquoted = _UNQUOTED.match(text, at, stop)
    return None if unquoted is None else (Attribute(name[0], unquoted[0], AttributeKind.BARE), unquoted.end())


def _expression_end(text: str, at: int, stop: int) -> int | None:
    depth = 0
    for index in range(at, min(stop, at + _LONGEST_EXPRESSION)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if not depth:
                return index + 1
    return None
