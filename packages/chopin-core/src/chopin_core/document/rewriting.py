"""From one whole text to another in small steps, so that what stays keeps its identity and the cursors in it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Final, NamedTuple

from chopin_core.document.splice import Splice

_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_WORDS: Final = 400
_MOST_LINES: Final = 200
_SHORTEST_ISLAND: Final = 8
"""Fewer characters that two passages have in common are chance, and not worth a splice of their own."""


class _Change(NamedTuple):
    """``old[start:end]`` becomes ``new[new_start:new_end]``."""

    start: int
    end: int
    new_start: int
    new_end: int


def splices_between(old: str, new: str) -> tuple[Splice, ...]:
    """
    Splices that make the new text of the old one, from left to right; none when they are equal.

    Lines that occur once in both texts and in the same order stay, as do equal beginnings and ends of what is between, and
    equal words of short passages. Long passages are replaced whole: the cost stays near the length of the texts.
    """
    splices: list[Splice] = []
    moved = 0
    for change in _changes(old, new):
        insert = new[change.new_start : change.new_end]
        splices.append(Splice(change.start + moved, change.end + moved, insert))
        moved += len(insert) - (change.end - change.start)
    return tuple(splices)
