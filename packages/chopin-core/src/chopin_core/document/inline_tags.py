"""Component tags among words: which of them MDX finds whole, whatever emphasis or links stand around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from chopin_core.document.literals import addresses, escaped
from chopin_core.document.spans import Span, within
from chopin_core.document.tags import TagKind, read_tag

_IMAGE: Final = re.compile(r"<Image[ \t/]")
_UNDERLINE: Final = re.compile(r"<Underline>([^<>{}`$\\|&]*)</Underline>")
_DELIMITER: Final = re.compile(r"[*_~]+|!?\[|\]\([^\s()*_~\[\]]*\)|\]")
_RAW: Final = re.compile(r"[`$|\\]")


def whole_tags(text: str) -> list[Span]:
    """The spans of tags in one line (or cell) that may stay as they are, ascending."""
    bare = addresses(text)
    found = (tag for tag in (*_images(text), *_underlines(text)) if not within(bare, tag[0].start))
    return sorted(span for tag in found for span in tag if not escaped(text, tag[0].start))


def _images(text: str) -> Iterator[tuple[Span, ...]]:
    for match in _IMAGE.finditer(text):
        tag = read_tag(text, match.start())
        if tag and tag.kind is TagKind.EMPTY and tag.plain and not _RAW.search(text, tag.start, tag.end):
            yield (Span(tag.start, tag.end),)


def _underlines(text: str) -> Iterator[tuple[Span, ...]]:
    for match in _UNDERLINE.finditer(text):
        # With nothing in between, the tags might be all there is on the line, and no longer among words.
        if match[1].strip() and _self_contained(match[1]):
            yield Span(match.start(), match.start(1)), Span(match.end(1), match.end())


def _self_contained(inner: str) -> bool:
    """
    Whether all emphasis and links that begin inside also end inside, and the other way round.

    A run of markers counts where it can only open or only close; a run that could do both might pair with one outside.
    """
    open_marks: list[str] = []
    for match in _DELIMITER.finditer(inner):
        mark = match[0]
        if mark in ("[", "!["):
            open_marks.append("[")
        elif mark[0] == "]":
            if not open_marks or open_marks.pop() != "[":
                return False
        else:
            before, after = (
                _letter(inner[max(match.start() - 1, 0) : match.start()]),
                _letter(inner[match.end() : match.end() + 1]),
            )
            if mark[0] == "_" and before and after:
                continue
            if before == after or (before and (not open_marks or open_marks.pop() != mark)):
                return False
            if after:
                open_marks.append(mark)
    return not open_marks


def _letter(character: str) -> bool:
    """What is neither space nor punctuation to CommonMark, which decides what a marker beside it can do."""
    return bool(character) and not character.isspace() and unicodedata.category(character)[0] not in "PS"
