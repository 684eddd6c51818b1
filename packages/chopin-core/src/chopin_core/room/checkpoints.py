"""When the journal of an open document is folded into a snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from chopin_core.room.timings import Timings


class Checkpoints:
    """
    Counts what a recovery would have to replay, and calls for a checkpoint when it is time.

    That is a moment after the last commit, or at once when somebody writes without a pause and the journal grows long.
    Whoever is to be called is held while that is to come and no longer, so that a room that was put away is gone at once.
    """

    def __init__(self, timings: Timings, rows: int) -> None:
        self._timings = timings
        self._rows = rows
        self._timer: asyncio.TimerHandle | None = None

    @property
    def needed(self) -> bool:
        """Whether anything was kept since the last checkpoint."""
        return self._rows > 0

    def committed(self, due: Callable[[], object]) -> None:
        self._rows += 1
        self.cancel()
        delay = self._timings.checkpoint if self._rows % self._timings.journal_rows else 0.0
        self._timer = asyncio.get_running_loop().call_later(delay, due)

    def folded(self) -> None:
        self._rows = 0
        self.cancel()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
