"""From the deltas in which libraries tell a change of text to splices, and the text they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chopin_core.document.splice import Splice
from chopin_core.errors import UpdateMalformed

Delta = Iterable[Mapping[str, Any]]


def read_delta(text: str, delta: Delta, characters: Callable[[int], int]) -> tuple[str, tuple[Splice, ...]]:
    """
    The text after the change, and the splices that lead there.

    ``characters`` answers how many characters of ``text`` the next so many units of the delta are; it is asked left to right.

    Raises:
        UpdateMalformed: the delta speaks of anything but plain characters of this text.
    """
    pieces: list[str] = []
    splices: list[Splice] = []
    at = 0  # in the text before
    moved = 0  # how much further the same place lies in the text after
    for step in delta:
        match step:
            case {"retain": int(units), **others} if not others:
                stop = at + characters(units)
                pieces.append(text[at:stop])
                at = stop
            case {"delete": int(units), **others} if not others:
                stop = at + characters(units)
                _add(splices, Splice(at + moved, stop + moved, ""))
                moved -= stop - at
                at = stop
            case {"insert": str(insert), **others} if not others:
                pieces.append(insert)
                _add(splices, Splice(at + moved, at + moved, insert))
                moved += len(insert)
            case _:
                raise UpdateMalformed()
    pieces.append(text[at:])
    return "".join(pieces), tuple(splices)


def _add(splices: list[Splice], step: Splice) -> None:
    """One replacement instead of a deletion and an insertion at the same place."""
    last = splices[-1] if splices else None
    if last is not None and last.start + len(last.insert) == step.start:
        splices[-1] = Splice(last.start, last.end + step.end - step.start, last.insert + step.insert)
    else:
        splices.append(step)
