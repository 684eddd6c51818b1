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

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_WORD: Final = re.compile(r"\s*\S+\s*?(?=\s|\Z)|\s+")
_MOST_LINES: Final = 64
_MOST_WORDS: Final = 200
_MOST_PASSAGES: Final = 500
_SHORTEST_ISLAND: Final = 8
"""Fewer characters that two passages share are chance, and not worth a splice of their own."""

_JOINERS: Final = re.compile("[\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U0001f1e6-\U0001f1ff]")


class _Passage(NamedTuple):
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
    passages = list(_by_lines(old, new))
    if len(passages) <= _MOST_PASSAGES:
        passages = [smaller for passage in passages for smaller in _by_words(old, new, passage)]
    splices: list[Splice] = []
    moved = 0
    for passage in passages:
        start, end, new_start, new_end = _trimmed(old, new, passage)
        if start < end or new_start < new_end:
            splices.append(Splice(start + moved, end + moved, new[new_start:new_end]))
            moved += (new_end - new_start) - (end - start)
    return tuple(splices)


def _by_lines(old: str, new: str) -> Iterator[_Passage]:
    before, after = _LINE.findall(old), _LINE.findall(new)
    at, new_at = _offsets(before), _offsets(after)
    line = new_line = 0
    for anchor, new_anchor in (*_anchors(before, after), (len(before), len(after))):
        for start, end, new_start, new_end in _gap(before[line:anchor], after[new_line:new_anchor], _MOST_LINES):
            yield _Passage(at[line + start], at[line + end], new_at[new_line + new_start], new_at[new_line + new_end])
        line, new_line = anchor + 1, new_anchor + 1


def _by_words(old: str, new: str, passage: _Passage) -> Iterator[_Passage]:
    start, end, new_start, new_end = passage
    before, after = _WORD.findall(old[start:end]), _WORD.findall(new[new_start:new_end])
    at, new_at = _offsets(before), _offsets(after)
    for first, last, new_first, new_last in _gap(before, after, _MOST_WORDS):
        yield _Passage(start + at[first], start + at[last], new_start + new_at[new_first], new_start + new_at[new_last])


def _offsets(pieces: Sequence[str]) -> list[int]:
    return [0, *accumulate(map(len, pieces))]


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Equal lines that are unique on both sides, as many as keep their order."""
    counts, new_counts = Counter(before), Counter(after)
    places = {line: number for number, line in enumerate(after) if new_counts[line] == 1}
    ends: list[int] = []  # the smallest end of an ascending chain, by its length
    tails: list[int] = []
    links: list[tuple[int, int, int]] = []
    for number, line in enumerate(before):
        place = places.get(line, -1) if counts[line] == 1 else -1
        if place >= 0:
            length = bisect_left(ends, place)
            links.append((number, place, tails[length - 1] if length else -1))
            ends[length : length + 1] = [place]
            tails[length : length + 1] = [len(links) - 1]
    chain: list[tuple[int, int]] = []
    link = tails[-1] if tails else -1
    while link >= 0:
        number, place, link = links[link]
        chain.append((number, place))
    return chain[::-1]


def _gap(before: Sequence[str], after: Sequence[str], most: int) -> Iterator[_Passage]:
    """What differs between two sequences of pieces, in pieces."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end, new_end = len(before) - tail, len(after) - tail
    if max(end, new_end) - head > most:
        yield _Passage(head, end, head, new_end)
        return
    start, new_start = head, head
    matcher = SequenceMatcher(None, before[head:end], after[head:new_end], autojunk=False)
    for match in matcher.get_matching_blocks():
        at, new_at = head + match.a, head + match.b
        if sum(map(len, before[at : at + match.size])) >= _SHORTEST_ISLAND or match.size == 0:
            if start < at or new_start < new_at:
                yield _Passage(start, at, new_start, new_at)
            start, new_start = at + match.size, new_at + match.size


def _trimmed(old: str, new: str, passage: _Passage) -> _Passage:
    """The passage without equal characters at its ends, as long as none is torn from those it is drawn with."""
    start, end, new_start, new_end = passage
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start > passage.start and not (_apart(old, start) and _apart(new, new_start)):
        start, new_start = start - 1, new_start - 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    while end < passage.end and not (_apart(old, end) and _apart(new, new_end)):
        end, new_end = end + 1, new_end + 1
    return _Passage(start, end, new_start, new_end)


def _apart(text: str, at: int) -> bool:
    """Whether the characters on both sides of an index are drawn on their own."""
    if at in (0, len(text)):
        return True
    return not (unicodedata.combining(text[at]) or _JOINERS.match(text[at]) or _JOINERS.match(text[at - 1]))
