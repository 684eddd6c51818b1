"""Fences around code and math, judged line by line, without parsing the Markdown they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from chopin_core.document.spans import Span

MAYBE_FENCE: Final = re.compile(
    r"(?P<before>[ \t>]*(?:(?:[-+*]|\d{1,9}[.)]|\[\^[^\]\s]+\]:)[ \t>]*)*)"
    r"(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}|\${2,}(?=[^$\n]*$))[^\n]*$",
    re.MULTILINE,
)
"""A line that opens a fence, if what is before the fence are marks of lists, quotations or footnotes."""

_MARK: Final = re.compile(r"`{3,}|~{3,}|\${2,}")
_CERTAIN_MARKS: Final = re.compile(r"[ \t>]*(?:[-+*][ \t]+|1[.)][ \t]+)*")
_LATER_NUMBER: Final = re.compile(r"(?!1[.)])\d{1,9}[.)]")
_IN_LIST: Final = re.compile(r"[ \t]|[-+*][ \t]|\d{1,9}[.)]|$")
_NO_SPACE: Final = re.compile(r"[^>\s]")


def certain_fences(text: str) -> list[Span] | None:
    """
    The fences of a text in order, from the start of their first line to the end of their last.

    None when it takes a reader of lists and quotations to tell: one of them stands in such and is not plainly closed there.
    """
    fences: list[Span] = []
    done = 0
    for mark in _MARK.finditer(text):
        if mark.start() < done:
            continue
        start = text.rfind("\n", 0, mark.start()) + 1
        opening = MAYBE_FENCE.match(text, start)
        if opening is None:
            done = _line_end(text, start)
        elif not opening["before"]:
            closing = _closing(opening["fence"]).search(text, opening.end())
            done = closing.end() if closing else len(text)
            fences.append(Span(start, done))
        else:
            end = _end_inside(text, opening) if _CERTAIN_MARKS.fullmatch(opening["before"]) else None
            if end is None:
                return None
            done = end
            fences.append(Span(start, done))
    return fences


def _closing(fence: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)


def _end_inside(text: str, opening: re.Match[str]) -> int | None:
    prefix = place(opening["before"])
    closing = _closing(opening["fence"])
    at = opening.end() + 1
    while at < len(text):
        end = _line_end(text, at)
        line = text[at:end]
        if not stays([line], prefix):
            return None
        if closing.fullmatch(line.removeprefix(prefix)):
            return end
        at = end + 1
    return None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def opens_containers(before: str, line_before: str) -> bool:
    """
    Whether the marks before a fence are marks to every reader.

    A list may begin with another number than 1, but not in the midst of a paragraph. What that is MDX sees otherwise after
    a definition, and after a mark that breaks a paragraph off. It is certain after an empty line and within a list.
    """
    for mark in _LATER_NUMBER.finditer(before):
        around = place(before[: mark.start()])
        if line_before.strip() and not (line_before.startswith(around) and _IN_LIST.match(line_before, len(around))):
            return False
    return True


def place(before: str) -> str:
    """What the next lines must begin with to stand in the same lists and quotations as what follows ``before``."""
    return _NO_SPACE.sub(" ", before)


def stays(lines: Iterable[str], prefix: str) -> bool:
    """Whether all lines begin with the prefix; an empty one need not, except in a quotation."""
    bare = prefix.rstrip()
    return all(line.startswith(prefix) or line.rstrip() == bare for line in lines)
