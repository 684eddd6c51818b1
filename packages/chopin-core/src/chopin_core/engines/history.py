"""What a replica has seen, and whether an update fits to it: nothing missing before it, no character cut in two."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from chopin_core.engines.wire import Id, Run, Update
from chopin_core.errors import UpdateMalformed

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


Deleted: TypeAlias = Mapping[int, list[tuple[int, int]]]
"""Ranges of clocks, each from its first to behind its last, by client."""


class History:
    """
    Clocks count UTF-16 units, so an update can cut a character outside the Basic Multilingual Plane in two. Yjs then shows
    two replacement characters; yrs (behind pycrdt and y-py) deletes a neighbour or shifts all later clocks, and the replicas
    part for ever. Hence the clock of every second half is kept, and a cut there is refused. Not of deleted characters: a
    document that was loaded holds only their number, and whoever loads it must judge as those do who were there.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, int] = {}
        self._halves: dict[int, list[int]] = {}

    def clock(self, client: int) -> int:
        """How many UTF-16 units of that client are known."""
        return self._clocks.get(client, 0)

    def within(self, client: int, clock: int) -> int:
        """
        The clock, or the last known one where it lies ahead.

        Raises:
            UpdateMalformed: it cuts a character.
        """
        if _holds(self._halves.get(client, ()), clock):
            raise UpdateMalformed()
        return min(clock, self.clock(client))

    def knows(self, character: Id) -> bool:
        return character.clock < self._clocks.get(character.client, 0)

    def typists(self, update: Update) -> frozenset[int]:
        """The clients of whom the update tells something that is not known."""
        return frozenset(client for client, end in self._ends(update).items() if end > self.clock(client))

    def known(self, client: int, runs: Iterable[Run]) -> list[Run]:
        """Those of the client's runs that tell of characters this replica may hold already."""
        end = self.clock(client)
        return [run for run in runs if run.clock < end and run.text is not None]

    def check(self, update: Update) -> Deleted:
        """
        Whether a replica with this history can take the update in, whole.

        Answers what of the update's deletions has to be done before the rest of it: those of known characters that the rest
        cuts in two, as it may once they are gone.

        Raises:
            UpdateMalformed: it builds on something that is missing (``incomplete``), or it cuts a character.
        """
        ends = self._ends(update)
        for client, runs in update.runs.items():
            seen = self._clocks.get(client, 0)
            for run in runs:
                if run.clock > seen:
                    raise UpdateMalformed(incomplete=True)
                seen = max(seen, run.end)
                for neighbour in (run.left, run.right):
                    if neighbour is not None and neighbour.clock >= ends.get(
                        neighbour.client, self._clocks.get(neighbour.client, 0)
                    ):
                        raise UpdateMalformed(incomplete=True)
        for client, ranges in update.deleted.items():
            end = ends.get(client, self._clocks.get(client, 0))
            if any(stop > end for _, stop in ranges):
                raise UpdateMalformed(incomplete=True)
        return self._check_cuts(update)

    def add(self, update: Update) -> None:
        """Remember an update that was taken in whole."""
        for client, halves in self._new_halves(update).items():
            self._halves.setdefault(client, []).extend(halves)
        self._clocks.update(self._ends(update))
        for client, ranges in update.deleted.items():
            if kept := self._halves.get(client):
                for start, stop in ranges:
                    del kept[bisect_left(kept, start) : bisect_left(kept, stop)]

    def _ends(self, update: Update) -> dict[int, int]:
        return {client: max(self._clocks.get(client, 0), runs[-1].end) for client, runs in update.runs.items() if runs}

    def _new_halves(self, update: Update) -> dict[int, list[int]]:
        new = {}
        for client, runs in update.runs.items():
            seen = self._clocks.get(client, 0)
            halves = [half for run in runs if run.end > seen for half in second_halves(run) if half >= seen]
            if halves:
                new[client] = halves
        return new

    def _check_cuts(self, update: Update) -> Deleted:
        new = self._new_halves(update)
        first: dict[int, list[tuple[int, int]]] = {}
        if not new and not self._halves:
            return first

        def refuse_cut(client: int, clock: int) -> None:
            if _holds(new.get(client, ()), clock):
                raise UpdateMalformed()
            if _holds(self._halves.get(client, ()), clock):
                ranges = update.deleted.get(client, ())
                if not any(start < clock < stop for start, stop in ranges):
                    raise UpdateMalformed()
                first.setdefault(client, []).append((clock - 1, clock + 1))

        for client, runs in update.runs.items():
            for run in runs:
                refuse_cut(client, run.clock)
                if run.left is not None:
                    refuse_cut(run.left.client, run.left.clock + 1)
                if run.right is not None:
                    refuse_cut(run.right.client, run.right.clock)
            refuse_cut(client, self._clocks.get(client, 0))
        for client, ranges in update.deleted.items():
            for start, stop in ranges:
                refuse_cut(client, start)
                refuse_cut(client, stop)
        return {client: sorted(set(ranges)) for client, ranges in first.items()}


def second_halves(run: Run) -> Iterator[int]:
    """The clocks of the second halves of the run's characters outside the Basic Multilingual Plane."""
    if run.text is not None and not run.text.isascii():
        for earlier, match in enumerate(_ASTRAL.finditer(run.text)):
            yield run.clock + match.start() + earlier + 1


def _holds(ascending: list[int] | tuple[()], value: int) -> bool:
    at = bisect_left(ascending, value)
    return at < len(ascending) and ascending[at] == value
