"""How much one connection may send: the update rate and the strikes, decided without a clock of their own."""

from __future__ import annotations

import enum
from collections import deque

LARGEST_UPDATE = 512 * 1024
UPDATES_PER_SECOND = 200
LIMITED_WINDOWS = 3
CURSORS_PER_SECOND = 50
"""Awareness beyond that is dropped; a browser of ours sends at most ten a second."""
STRIKES = 3
STRIKE_MEMORY = 600.0


class Pace(enum.Enum):
    """What to do with an update that has just arrived."""

    TAKE = "take"
    DROP = "drop"
    """Too fast: refuse it; the client keeps what was not acknowledged and sends it again."""
    CUT = "cut"
    """Too fast for three windows in a row: close the connection."""


class Rate:
    """At most so many arrivals in any second. Times are monotonic seconds."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._taken: deque[float] = deque()

    def take(self, at: float) -> bool:
        """Whether one more fits; only what fits is counted."""
        while self._taken and self._taken[0] <= at - 1.0:
            self._taken.popleft()
        if len(self._taken) >= self._per_second:
            return False
        self._taken.append(at)
        return True


class UpdateRate:
    """At most 200 updates in any second of one connection (protocol spec §4.2). Times are monotonic seconds."""

    def __init__(self) -> None:
        self._rate = Rate(UPDATES_PER_SECOND)
        self._limited_window: int | None = None
        self._limited_in_a_row = 0

    def arrive(self, at: float) -> Pace:
        if self._rate.take(at):
            return Pace.TAKE
        window = int(at)
        if self._limited_window != window:
            in_a_row = self._limited_window is not None and window == self._limited_window + 1
            self._limited_in_a_row = self._limited_in_a_row + 1 if in_a_row else 1
            self._limited_window = window
        return Pace.CUT if self._limited_in_a_row >= LIMITED_WINDOWS else Pace.DROP


class Strikes:
    """Three refused updates within ten minutes are enough (protocol spec §2.5, code 4003)."""

    def __init__(self) -> None:
        self._at: deque[float] = deque(maxlen=STRIKES)

    def strike(self, at: float) -> bool:
        """Count one; True when the connection has had its last."""
        self._at.append(at)
        return len(self._at) == STRIKES and self._at[0] > at - STRIKE_MEMORY
