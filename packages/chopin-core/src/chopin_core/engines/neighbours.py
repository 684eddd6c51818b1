"""Between which characters each one was typed, and whether an update's claims of that can be the outcome of typing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import attrs

from chopin_core.engines.wire import Id, Run, Update
from chopin_core.errors import UpdateMalformed


@attrs.define
class _Stretch:
    """Characters of one client that were typed one behind the other, all of them before the same neighbour."""

    clock: int
    end: int
    left: Id | None
    right: Id | None


class Seam(NamedTuple):
    """
    Where a character was put between two whose authors did not know each other's: ``left`` was typed before ``before``, and
    ``right`` behind ``behind``; None are the ends of the text.
    """

    left: Id
    right: Id
    behind: Id | None
    before: Id | None


class Neighbours:
    """
    Every character names those between which it was typed, dead ones included. Of two that lie side by side, one was typed
    beside the other, or neither of their authors knew the other's: then they met at a seam.

    Who names as neighbours two characters that are none puts an order into the document that depends on when its parts
    arrive: those who are there see one text, and whoever loads it another.
    """

    def __init__(self) -> None:
        self._clients: dict[int, list[_Stretch]] = {}

    def add(self, update: Update) -> None:
        """Remember what was taken in. What is known already is passed over, as the libraries do."""
        for client, runs in update.runs.items():
            stretches = self._clients.setdefault(client, [])
            for run in runs:
                self._add(client, stretches, run)

    def _add(self, client: int, stretches: list[_Stretch], run: Run) -> None:
        last = stretches[-1] if stretches else None
        known = 0 if last is None else last.end
        if run.end <= known:
            return
        clock = max(run.clock, known)
        left = _left_of(client, run, clock)
        if last is not None and left == (client, known - 1) and run.right == last.right:
            last.end = run.end
        else:
            stretches.append(_Stretch(clock, run.end, left, run.right))

    def seams(self, update: Update) -> list[Seam]:
        """
        The places of new characters of which only the order of the whole text can tell whether they are one.

        Raises:
            UpdateMalformed: a character was put at the end of the text and behind one that was typed before another, or at the
                start and before one that was typed behind another.
        """
        seams = []
        for client, runs in update.runs.items():
            stretches = self._clients.get(client)
            known = stretches[-1].end if stretches else 0
            for run in runs:
                if run.end > known:
                    left = _left_of(client, run, max(run.clock, known))
                    if (seam := self._seam(left, run.right, update)) is not None:
                        seams.append(seam)
        return seams

    def _seam(self, left: Id | None, right: Id | None, update: Update) -> Seam | None:
        before = None if left is None else self._of(left, update)[1]
        behind = None if right is None else self._of(right, update)[0]
        if (left is not None and before == right) or (right is not None and behind == left):
            return None
        if left is None and right is None:
            return None
        if left is None or right is None:
            raise UpdateMalformed()
        return Seam(left=left, right=right, behind=behind, before=before)

    def _of(self, character: Id, update: Update) -> tuple[Id | None, Id | None]:
        """The neighbours that a character was typed between."""
        client, clock = character
        typed: Sequence[_Stretch | Run] | None = self._clients.get(client)
        if not typed or clock >= typed[-1].end:
            typed = update.runs.get(client, ())
        one = typed[bisect_right(typed, clock, key=_clock) - 1]
        return _left_of(client, one, clock), one.right


def _left_of(client: int, typed: _Stretch | Run, clock: int) -> Id | None:
    """Behind which character the one at that clock was typed."""
    return typed.left if clock == typed.clock else Id(client, clock - 1)


def _clock(typed: _Stretch | Run) -> int:
    return typed.clock
