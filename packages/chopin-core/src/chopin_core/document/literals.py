"""Where in a run of lines MDX is certain to read code or math, so that nothing there needs an escape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from chopin_core.document.spans import Span, common, within

_RUN: Final = re.compile(r"`+|\$+")
_LINK: Final = re.compile(r"\]\(")
_TARGET: Final = re.compile(r"[ \t]*[^\s()<>`$]*(?:\([^\s()<>`$]*\)[^\s()<>`$]*)*(?:[ \t]+(?:\"[^\"`$]*\"|'[^'`$]*'))?[ \t]*\)")
_LABEL: Final = re.compile(r"\]\[[^\]]*(?:[`$]|\Z)|\[\^[^\[\]\s]*[`$]")
_ADDRESS: Final = re.compile(r"(?:https?://|www\.)[^ \t\n]*", re.IGNORECASE)
_MOST_OPENERS: Final = 8


class Opener(NamedTuple):
    """A run of backticks or dollars that would close what an equal run opened."""

    mark: str
    length: int


class _Unit:
    """A line, or the cell of a table, with its runs of backticks and dollars."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.runs = [(match.start(), Opener(match[0][0], len(match[0]))) for match in _RUN.finditer(text)]
        self._places: dict[Opener, list[int]] = {}
        for at, run in self.runs:
            self._places.setdefault(run, []).append(at)

    def closed_from(self, opener: Opener, at: int) -> int | None:
        """The end of the first run equal to the opener from ``at`` on."""
        places = self._places.get(opener, [])
        found = bisect_left(places, at)
        return places[found] + opener.length if found < len(places) else None

    def read(self, start: int, math: bool) -> tuple[list[Span], set[Opener]]:
        """The literal spans from ``start`` on, where text begins, and the runs that nothing here closes."""
        spans: list[Span] = []
        left: set[Opener] = set()
        at = start
        for place, run in self.runs:
            if place < at or (run.mark == "$" and not math):
                continue
            opener, begin = run, place
            if escaped(self.text, place):
                opener, begin = Opener(run.mark, run.length - 1), place + 1
            if not opener.length:
                continue
            end = self.closed_from(opener, place + run.length)
            if end is None:
                left.add(opener)
                continue
            at = end
            if run.mark == "`" or self._meant(begin + opener.length, end - opener.length, end):
                spans.append(Span(begin, end))
        return spans, left

    def _meant(self, first: int, last: int, end: int) -> bool:
        """Whether dollars are there for math; MDX takes any two, a price and the next one too."""
        inner = self.text[first:last]
        return inner == inner.strip() and "`" not in inner and not self.text[end : end + 1].isdigit()


class Reader:
    """
    Reads the units of one run of lines in order.

    Whether the lines are one paragraph or several is not always certain, so a run left open in one line may go on in a later
    one, or not; and an MDX without the math extension knows no dollars. Literal is what is literal in all these readings.
    """

    def __init__(self) -> None:
        self._open: dict[bool, set[Opener]] = {True: set(), False: set()}
        self._lost = False

    def literal(self, text: str) -> list[Span]:
        """The spans of the next unit that are certainly code or math, ascending."""
        unit = _Unit(text)
        spans = self._common(unit, math=True)
        # What is meant as math stays as it is, though an MDX without the extension would evaluate its braces.
        maths = [span for span in spans if text[span.start] == "$"]
        spans = common(spans, sorted(self._common(unit, math=False) + maths))
        if unit.runs and not self._lost:
            self._lost = any(not within(spans, at) for at in _inert(text))
        return [] if self._lost else spans

    def _common(self, unit: _Unit, *, math: bool) -> list[Span]:
        openers = self._open[math]
        starts = [0]
        for opener in list(openers):
            end = unit.closed_from(opener, 0)
            if end is not None:
                starts.append(end)
                openers.discard(opener)
        certain = [Span(0, len(unit.text))]
        for start in starts:
            spans, left = unit.read(start, math)
            openers |= left
            certain = common(certain, [Span(0, start), *spans] if start else spans)
        self._lost = self._lost or len(openers) > _MOST_OPENERS
        return certain


def _inert(text: str) -> Iterator[int]:
    """Places from which a link, a label or an address may swallow a run of backticks or dollars."""
    for match in _LINK.finditer(text):
        if not _TARGET.match(text, match.end()):
            yield match.start()
    for match in _LABEL.finditer(text):
        yield match.start()
    for match in _ADDRESS.finditer(text):
        if _RUN.search(match[0]):
            yield match.start()


def addresses(text: str) -> list[Span]:
    """Bare web addresses up to the next space, ascending."""
    return [Span(*match.span()) for match in _ADDRESS.finditer(text)]


def escaped(text: str, at: int) -> bool:
    """Whether a backslash takes its meaning from the character there."""
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1
