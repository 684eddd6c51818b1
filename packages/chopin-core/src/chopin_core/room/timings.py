"""How long a room waits for what, in seconds (operations spec §6)."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Timings:
    """
    ``grouping`` is how long a first update waits for others to be committed with it: not at all, since what arrives while a
    commit is in flight goes together in the next one. ``checkpoint`` is counted from the last commit, ``eviction`` from the
    last member's leaving. Somebody who types without a pause gets a checkpoint after ``journal_rows`` commits.
    """

    grouping: float = 0.0
    checkpoint: float = 0.5
    eviction: float = 30.0
    journal_rows: int = 1_000
