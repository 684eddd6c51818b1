"""Whether the neighbours that an update names for a character can lie in that order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chopin_core.engines.wire import Id, Run, Update
from chopin_core.errors import UpdateMalformed


def doubtful(update: Update) -> dict[int, int]:
    """Clients one of whose characters is named as a right neighbour of a later one of theirs, and the first such clock."""
    first: dict[int, int] = {}
    for _, right in _backwards(update):
        first[right.client] = min(right.clock, first.get(right.client, right.clock))
    return first


def _backwards(update: Update) -> Iterator[tuple[Id, Id]]:
    """Neighbours that one client typed, the right one no later than the left one."""
    for runs in update.runs.values():
        for run in runs:
            if run.left and run.right and run.left.client == run.right.client and run.right.clock <= run.left.clock:
                yield run.left, run.right


def check_order(update: Update, known: Mapping[int, list[Run]]) -> None:
    """
    A character that was typed behind another lies behind it for ever. An update that puts something behind the latter and
    before the former is no outcome of typing, and libraries place it here or there depending on how they cut their runs: the
    document would say one thing to those who are there and another to who loads it.

    ``known`` are the runs of the doubtful clients from their first doubtful clock on.

    Raises:
        UpdateMalformed: the neighbours are in the wrong order.
    """
    for left, right in _backwards(update):
        if _behind(right.client, right.clock, left.clock, known.get(right.client, ())):
            raise UpdateMalformed()


def _behind(client: int, clock: int, later: int, runs: Iterable[Run]) -> bool:
    """Whether the client's later character is known to lie behind the one at ``clock``, or is that one."""
    behind: list[tuple[int, int]] = []
    for run in runs:
        if run.end <= clock:
            continue
        left = run.left
        follows = left is not None and left.client == client and any(start <= left.clock < end for start, end in behind)
        if run.clock <= clock or follows:
            behind.append((max(run.clock, clock), run.end))
            if run.clock <= later < run.end:
                return True
    return False
