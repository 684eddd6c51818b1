"""The blocks that show records, as they stand in a text; only the server may change them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from chopin_core.document.components import FLOW, PROJECTIONS, stands_alone
from chopin_core.document.fences import certain_fences
from chopin_core.document.markdown import parse_blocks
from chopin_core.document.spans import within
from chopin_core.document.tags import Tag, TagKind, read_tag

_OPENING: Final = re.compile(rf"<(?:{'|'.join(sorted(PROJECTIONS))})(?=[\s/>])")
_AT_MARGIN: Final = re.compile(rf"^{_OPENING.pattern}", re.MULTILINE)
_COMPONENT: Final = re.compile(rf"<(?:{'|'.join(sorted(FLOW))})(?=\s)")
_SPACE: Final = re.compile(r"[ \t\n]*")
_REST_OF_LINE: Final = re.compile(r"[ \t]*$", re.MULTILINE)


def protected_blocks(text: str) -> tuple[str, ...]:
    """
    The source of every Questionnaire, Decision and Research block, sorted: where they stand does not count.

    A block begins at the margin, holds nothing but tags, and has its last line to itself. One that code or another tag
    surrounds is not there, so to wrap a block is to remove it. A text without blocks is answered at once, and a text
    with them mostly without parsing it.
    """
    return _blocks(text) if _OPENING.search(text) else ()


@lru_cache(maxsize=16)  # a text is asked about as the outcome of one edit and then as the origin of the next
def _blocks(text: str) -> tuple[str, ...]:
    candidates = dict(_candidates(text))
    if candidates:
        fences = certain_fences(text)
        if fences is None or _swallowed(text, candidates):
            shown = {line.start for line in _tag_lines(text)}
        else:
            shown = {start for start in candidates if not within(fences, start)}
        candidates = {start: end for start, end in candidates.items() if start in shown}
    return tuple(sorted(text[start:end] for start, end in candidates.items()))


def _candidates(text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for match in _AT_MARGIN.finditer(text):
        if match.start() >= done and (end := _end(text, match.start())) is not None:
            yield match.start(), end
            done = end


def _end(text: str, start: int) -> int | None:
    """The end of the block that begins there, or None if it is not one."""
    names: list[str] = []
    at = start
    while (tag := read_tag(text, at) if text.startswith("<", at) else None) is not None and stands_alone(tag):
        if tag.name in PROJECTIONS and tag.kind is not TagKind.CLOSE and tag.start > start:
            return None
        if tag.kind is TagKind.OPEN:
            names.append(tag.name)
        elif tag.kind is TagKind.CLOSE and (not names or names.pop() != tag.name):
            return None
        if not names:
            return tag.end if _REST_OF_LINE.match(text, tag.end) else None
        space = _SPACE.match(text, tag.end)
        at = space.end() if space else tag.end
    return None


def _swallowed(text: str, candidates: dict[int, int]) -> bool:
    """Whether one of the blocks may lie inside the tag of another component, as the value of an attribute."""
    for match in _COMPONENT.finditer(text):
        tag = read_tag(text, match.start())
        if tag and tag.plain and "\n" in text[tag.start : tag.end]:
            if any(tag.start < start < tag.end for start in candidates):
                return True
    return False


def _tag_lines(text: str) -> Iterator[Tag]:
    for token in parse_blocks(text, stands_alone):
        if token.type == "tags" and token.level == 0:
            yield token.meta["tags"][0]
