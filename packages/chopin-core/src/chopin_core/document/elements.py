"""Which component tags on lines of their own pair up, so that MDX finds each element whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import attrs
from markdown_it.token import Token

from chopin_core.document.tags import Tag, TagKind

MOST_NESTED: Final = 20


@attrs.frozen
class Element:
    """A component from the line of its opening tag to the line of its closing tag, which may be the same."""

    opening: Token
    closing: Token
    tag: Tag


@attrs.define
class _Container:
    """What stands in one list item, quotation or footnote, or at the top: tags do not pair across its ends."""

    open: list[tuple[Tag, Token]] = attrs.field(factory=list)
    names: Counter[str] = attrs.field(factory=Counter)

    def pop(self) -> tuple[Tag, Token]:
        tag, token = self.open.pop()
        self.names[tag.name] -= 1
        return tag, token


def pair(tokens: Iterable[Token]) -> tuple[list[Element], list[Token]]:
    """The elements, in the order of their ends, and the lines that hold a tag without its counterpart."""
    elements: list[Element] = []
    alone: list[Token] = []
    containers = [_Container()]
    for token in tokens:
        if token.type == "tags":
            for tag in token.meta["tags"]:
                found, lost = _take(containers[-1], tag, token)
                elements.extend(found)
                alone.extend(lost)
        elif token.nesting == 1:
            containers.append(_Container())
        elif token.nesting == -1:
            alone.extend(token for _, token in containers.pop().open)
    alone.extend(token for _, token in containers.pop().open)
    return elements, alone


def _take(container: _Container, tag: Tag, token: Token) -> tuple[list[Element], list[Token]]:
    if tag.kind is TagKind.EMPTY:
        return [Element(token, token, tag)], []
    if tag.kind is TagKind.OPEN:
        container.open.append((tag, token))
        container.names[tag.name] += 1
        return [], [token] if len(container.open) > MOST_NESTED else []
    if not container.names[tag.name]:
        return [], [token]
    lost: list[Token] = []
    while (opened := container.pop())[0].name != tag.name:
        lost.append(opened[1])
    return [Element(opened[1], token, opened[0])], lost


def starts(lines: Iterable[Token]) -> Iterator[int]:
    """Where the tags of these lines stand."""
    for token in lines:
        for tag in token.meta["tags"]:
            yield tag.start
