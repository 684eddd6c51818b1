"""Stretches of a text, in ascending order and apart from each other."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """``text[start:end]``"""

    start: int
    end: int


def within(spans: Sequence[Span], at: int) -> bool:
    """Whether one of them holds the character there."""
    found = bisect_right(spans, (at, sys.maxsize)) - 1
    return found >= 0 and at < spans[found].end


def common(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What lies in both."""
    found: list[Span] = []
    i = j = 0
    while i < len(some) and j < len(others):
        start, end = max(some[i].start, others[j].start), min(some[i].end, others[j].end)
        if start < end:
            found.append(Span(start, end))
        if some[i].end <= others[j].end:
            i += 1
        else:
            j += 1
    return found
