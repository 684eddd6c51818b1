"""Texts that say which update wrote them: a document of the proof is markers and nothing else, whoever wrote beside whom."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

_MARKER = re.compile(r"⟦[^⟦⟧]*⟧")
_END = "⟧"
# Characters of one to four bytes and of two UTF-16 units, lines, and what a canonical source escapes.
_DECORATIONS = ("", "", "é", "中文", "🦜", "👩\u200d🚀", "{x", "<b", "\n", " e\u0301\n\n")


def marker(update: str, part: int, random: Random) -> str:
    """One that stands nowhere else."""
    return f"⟦{update}.{part}{random.choice(_DECORATIONS)}⟧"


def read(text: str) -> tuple[list[str], str]:
    """The markers of a text, and what is left without them: of a whole document, nothing."""
    return _MARKER.findall(text), _MARKER.sub("", text)


def gap(text: str, random: Random) -> int:
    """A place between two markers, or at either end."""
    return text.find(_END, random.randrange(-1, len(text))) + 1 if text else 0


def difference(one: str, other: str) -> str:
    """In what two texts differ, for a report."""
    ours, theirs = Counter(read(one)[0]), Counter(read(other)[0])
    if ours != theirs:
        return f"only the one has {sorted(ours - theirs)}, only the other {sorted(theirs - ours)}"
    return "in the order of the markers" if read(one)[0] != read(other)[0] else "in what is no marker"
