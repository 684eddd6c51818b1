"""Several updates as one, without a document: what a journal's group or an outbox needs."""

from __future__ import annotations

from collections.abc import Sequence

from chopin_core.engines.encoding import write_update
from chopin_core.engines.wire import Id, Run, Update, read_update
from chopin_core.errors import UpdateMalformed


def merge_updates(updates: Sequence[bytes]) -> bytes:
    """
    One update that does what all of them do, linear in their size. What they build on may be missing.

    Raises:
        UpdateMalformed: one of them cannot be read.
    """
    return write_update(merged([read_update(update) for update in updates]))


def merged(updates: Sequence[Update]) -> Update:
    """
    All that the updates say; of a character that several tell of, what the first said.

    Raises:
        UpdateMalformed: one of them knows half a character of another.
    """
    if len(updates) == 1:
        return updates[0]
    runs: dict[int, list[Run]] = {}
    deleted: dict[int, list[tuple[int, int]]] = {}
    for update in updates:
        for client, more in update.runs.items():
            runs.setdefault(client, []).extend(more)
        for client, ranges in update.deleted.items():
            deleted.setdefault(client, []).extend(ranges)
    return Update(
        {client: _joined(client, found) for client, found in runs.items()},
        {client: _united(ranges) for client, ranges in deleted.items()},
    )


def _joined(client: int, found: list[Run]) -> list[Run]:
    """Every character once, in the order of its clock."""
    joined: list[Run] = []
    end = 0
    for run in sorted(found, key=lambda run: (run.clock, -run.length)):
        if run.end > end:
            joined.append(run if run.clock >= end else _rest(client, run, end))
            end = run.end
    return joined


def _rest(client: int, run: Run, clock: int) -> Run:
    """The part of a run from a clock on: typed behind the character before it."""
    text = None
    if run.text is not None:
        units = run.text.encode("utf-16-le")[2 * (clock - run.clock) :]
        try:
            text = units.decode("utf-16-le")
        except UnicodeDecodeError:
            raise UpdateMalformed() from None
    return Run(clock, run.end - clock, Id(client, clock - 1), run.right, text)


def _united(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    united: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(stop, united[-1][1]))
        else:
            united.append((start, stop))
    return united
