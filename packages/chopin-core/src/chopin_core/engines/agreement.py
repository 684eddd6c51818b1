"""Whether an update tells the same story as a replica where both speak of the same characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chopin_core.engines.wire import Run
from chopin_core.errors import UpdateMalformed


def check_agreement(known: Iterable[Run], told: Iterable[Run]) -> None:
    """
    Libraries skip the clocks they know without a look, so two histories under one client id would part silently, and an
    edit told under a known clock would be acknowledged and lost. Both sides in ascending order, of the same client.

    Raises:
        UpdateMalformed: they differ in a character that both still hold.
    """
    ours = _Texts(known)
    for run in told:
        if run.text is not None:
            ours.compare(run.clock, run.text.encode("utf-16-le"))


class _Texts:
    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = iter(runs)
        self._run: Run | None = next(self._runs, None)

    def compare(self, clock: int, units: bytes) -> None:
        stop = clock + len(units) // 2
        for run in self._overlapping(clock, stop):
            if run.text is not None:
                start, end = max(clock, run.clock), min(stop, run.end)
                ours = run.text.encode("utf-16-le")[2 * (start - run.clock) : 2 * (end - run.clock)]
                if ours != units[2 * (start - clock) : 2 * (end - clock)]:
                    raise UpdateMalformed()

    def _overlapping(self, clock: int, stop: int) -> Iterator[Run]:
        while self._run is not None and self._run.clock < stop:
            if self._run.end > clock:
                yield self._run
            if self._run.end >= stop:
                break
            self._run = next(self._runs, None)
