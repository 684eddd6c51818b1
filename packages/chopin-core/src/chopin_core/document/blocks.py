"""A text as its top-level blocks: what an agent reads as an outline, and what comments and anchors hold on to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

import attrs

from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.lines import Parsed, parse_lines

LONGEST_PREVIEW: Final = 120
_SPACE: Final = " \t"

_KINDS: Final = {
    "blockquote_open": "blockquote",
    "bullet_list_open": "list",
    "fence": "code",
    "footnote_reference_open": "footnoteDefinition",
    "heading_open": "heading",
    "hr": "thematicBreak",
    "math": "math",
    "ordered_list_open": "list",
    "paragraph_open": "paragraph",
    "table_open": "table",
}


@attrs.frozen(kw_only=True)
class Block:
    """
    ``text[start:end]``, without the newline at its end. ``kind`` is a name of MDAST or of a component.

    ``digest`` is the hash of the block's own canonical source.
    """

    index: int
    start: int
    end: int
    kind: str
    preview: str
    digest: str


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text with plain line ends, in order; a component is one, with all it holds."""
    read = parse_lines(text)
    starts = [0, *accumulate(len(line) + 1 for line in read.lines.lines)]
    found: list[Block] = []
    for first, stop, kind in _ranges(read):
        start, end = starts[first], starts[stop] - 1
        source = text[start:end]
        found.append(
            Block(
                index=len(found),
                start=start,
                end=end,
                kind=kind,
                preview=" ".join(source[: 4 * LONGEST_PREVIEW].split())[:LONGEST_PREVIEW],
                digest=source_hash(canonical(source)),
            )
        )
    return tuple(found)


def _ranges(read: Parsed) -> Iterator[tuple[int, int, str]]:
    """Ranges of lines that begin and end with a word; what the parser takes in silently is a definition."""
    done = 0
    # What begins first, and holds more, comes first; of two elements on the same lines the outer one is parsed last.
    found = [(first, -stop, -number, kind) for number, (first, stop, kind) in enumerate(_parsed(read))]
    for first, below, _, kind in sorted(found):
        if first < done:
            continue  # inside a component
        yield from _trimmed(read.lines.lines, done, first, "definition")
        yield from _trimmed(read.lines.lines, first, -below, kind)
        done = -below
    yield from _trimmed(read.lines.lines, done, len(read.lines.lines), "definition")


def _trimmed(lines: Sequence[str], first: int, stop: int, kind: str) -> Iterator[tuple[int, int, str]]:
    while first < stop and not lines[first].strip(_SPACE):
        first += 1
    while first < stop and not lines[stop - 1].strip(_SPACE):
        stop -= 1
    if first < stop:
        yield first, stop, kind


def _parsed(read: Parsed) -> Iterator[tuple[int, int, str]]:
    for token in read.tokens:
        if token.level == 0 and token.type in _KINDS and token.map is not None:
            yield token.map[0], token.map[1], _KINDS[token.type]
    for element in read.elements:
        first, last = element.opening.map, element.closing.map
        if element.opening.level == 0 and first is not None and last is not None:
            yield first[0], last[1], element.tag.name
