"""Component tags among words: which of them MDX finds whole, whatever emphasis or links stand around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from chopin_core.document.literals import Span, addresses, escaped, within
from chopin_core.document.tags import TagKind, read_tag

_IMAGE: Final = re.compile(r"<Image[ \t/]")
_UNDERLINE: Final = re.compile(r"<Underline>([^<>{}`$\\|&]*)</Underline>")
_DELIMITER: Final = re.compile(r"[*_~]+|!?\[|\]\([^\s()*_~\[\]]*\)|[\]!]")
_RAW: Final = re.compile(r"[`$|\\]")


def whole_tags(text: str) -> list[Span]:
    """The spans of tags in one line (or cell) that may stay as they are, ascending."""
    return sorted((*_images(text), *_underlines(text)))


def _images(text: str) -> Iterator[Span]:
    for match in _IMAGE.finditer(text):
        tag = read_tag(text, match.start())
        if (
            tag
            and tag.kind is TagKind.EMPTY
            and tag.plain
            and not _RAW.search(text, tag.start, tag.end)
            and _bare(text, tag.start)
        ):
            yield Span(tag.start, tag.end)


def _underlines(text: str) -> Iterator[Span]:
    for match in _UNDERLINE.finditer(text):
        if _bare(text, match.start()) and _self_contained(match[1]):
            yield Span(match.start(), match.start(1))
            yield Span(match.end(1), match.end())


def _bare(text: str, at: int) -> bool:
    return not escaped(text, at) and not within(addresses(text), at)


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
        elif mark[0] in "]!":
            if mark[0] == "!" or not open_marks or open_marks.pop() != "[":
                return False
        else:
            before, after = inner[match.start() - 1 : match.start()].isalnum(), inner[match.end() : match.end() + 1].isalnum()
            if mark[0] == "_" and before and after:
                continue
            if before == after or (before and (not open_marks or open_marks.pop() != mark)):
                return False
            if after:
                open_marks.append(mark)
    return not open_marks
