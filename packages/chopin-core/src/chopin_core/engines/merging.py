"""Several updates as one, without a document: what a journal's group or an outbox needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chopin_core.engines.encoding import write_update
from chopin_core.engines.wire import Id, Run, Update, read_update
from chopin_core.errors import UpdateMalformed

_NEVER = (2**63, 2**63)
"""A range of clocks behind all others."""


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
    gone = {client: _united(ranges) for client, ranges in deleted.items()}
    return Update(
        {client: list(_without(client, _joined(client, found), gone.get(client, []))) for client, found in runs.items()}, gone
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


def _without(client: int, runs: list[Run], gone: list[tuple[int, int]]) -> Iterator[Run]:
    """
    The runs with only the number of the characters that are deleted.

    Otherwise what was typed beside such a character, and may cut it in two by then, would meet it while it is still there.
    """
    ahead = iter(gone)
    start, stop = next(ahead, _NEVER)
    for run in runs:
        units = _Units(client, run)
        at = run.clock
        while at < run.end:
            while stop <= at:
                start, stop = next(ahead, _NEVER)
            until = min(run.end, stop if start <= at else start)
            yield units.piece(at, until, gone=start <= at)
            at = until


def _rest(client: int, run: Run, clock: int) -> Run:
    """The part of a run from a clock on: typed behind the character before it."""
    return _Units(client, run).piece(clock, run.end)


class _Units:
    """A run that is taken apart, encoded once."""

    def __init__(self, client: int, run: Run) -> None:
        self._client = client
        self._run = run
        self._encoded: bytes | None = None

    def piece(self, start: int, stop: int, *, gone: bool = False) -> Run:
        run = self._run
        if (start, stop) == (run.clock, run.end):
            return run._replace(text=None) if gone else run
        left = run.left if start == run.clock else Id(self._client, start - 1)
        return Run(start, stop - start, left, run.right, None if gone else self._text(start - run.clock, stop - run.clock))

    def _text(self, first: int, last: int) -> str | None:
        if self._run.text is None:
            return None
        if self._encoded is None:
            self._encoded = self._run.text.encode("utf-16-le")
        try:
            return self._encoded[2 * first : 2 * last].decode("utf-16-le")
        except UnicodeDecodeError:
            raise UpdateMalformed() from None


def _united(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    united: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(stop, united[-1][1]))
        else:
            united.append((start, stop))
    return united
