"""Attributes: quoted, known, said once, present where they must be, and of their shape."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from typing import Final

from chopin_core.document.dialect.components import Attribute, Component
from chopin_core.document.dialect.tree import Node, shown
from chopin_core.document.tags import AttributeKind
from chopin_core.errors import SourceIssue
from chopin_core.ids import STORED_ID

WIDEST: Final = 4096
_ULID: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE | re.ASCII)
_REFERENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
_NUMBER: Final = re.compile(r"[0-9]{1,4}")


def is_id(value: str) -> bool:
    """A UUID as ids are minted here, or a ULID; not one of the former ids that were plain numbers."""
    return bool(_ULID.fullmatch(value) or (STORED_ID.fullmatch(value) and not value.isdigit()))


_SHAPES: Final[Mapping[str, tuple[str, str, Callable[[str], bool]]]] = {
    "id": ("bad-id", "a UUID or a ULID", is_id),
    "reference": (
        "bad-reference",
        "a reference of letters, digits and . _ : -",
        lambda value: bool(_REFERENCE.fullmatch(value)),
    ),
    "pixels": ("bad-attribute-value", f"a number up to {WIDEST}", lambda value: _number(value) <= WIDEST),
}


def _number(value: str) -> int:
    return int(value) if _NUMBER.fullmatch(value) else WIDEST + 1


def value_of(node: Node, name: str) -> str | None:
    """What an attribute says, with its character references resolved."""
    for attribute in node.tag.attributes if node.tag else ():
        if attribute.name == name and attribute.kind is AttributeKind.QUOTED:
            return unescape(attribute.value)
    return None


def check_attributes(node: Node, component: Component) -> Iterator[SourceIssue]:
    given = node.tag.attributes if node.tag else ()
    for attribute in given:
        match attribute.kind:
            case AttributeKind.SPREAD:
                yield node.issue("spread-attribute", "spreads an expression over its attributes")
            case AttributeKind.EXPRESSION:
                yield node.issue("expression-attribute", f"{shown(attribute.name)} is an expression")
            case AttributeKind.BARE:
                yield node.issue("bad-attribute-value", f"{shown(attribute.name)} is not a quoted string")
            case AttributeKind.QUOTED if attribute.name in component.attributes:
                yield from _check(node, attribute.name, unescape(attribute.value), component.attributes[attribute.name])
    names = Counter(attribute.name for attribute in given if attribute.kind is not AttributeKind.SPREAD)
    for name, count in names.items():
        if name not in component.attributes:
            yield node.issue("unknown-attribute", f"{shown(name)} is no attribute of it")
        elif count > 1:
            yield node.issue("duplicate-attribute", f"{name} is said {count} times")
    for name, rule in component.attributes.items():
        if rule.required and name not in names:
            yield node.issue("missing-attribute", f"{name} is missing")


def _check(node: Node, name: str, value: str, rule: Attribute) -> Iterator[SourceIssue]:
    if not value.strip() and not rule.empty:
        yield node.issue("empty-attribute", f"{name} says nothing")
        return
    if rule.longest is not None and len(value) > rule.longest:
        yield node.issue("attribute-too-long", f"{name} has {len(value)} characters; {rule.longest} are allowed")
    if rule.words is not None and value not in rule.words:
        yield node.issue("bad-attribute-value", f"{name} is none of {', '.join(sorted(rule.words))}")
    if rule.shape is not None:
        code, wanted, fits = _SHAPES[rule.shape]
        if not fits(value):
            yield node.issue(code, f"{name} must be {wanted}")
