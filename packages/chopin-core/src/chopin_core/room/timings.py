"""How long a room waits for what, in seconds (operations spec §6)."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Timings:
    """
    ``grouping`` is counted from the first update of a group, ``checkpoint`` from the last commit, ``eviction`` from the
    last member's leaving. Somebody who types without a pause gets a checkpoint after ``journal_rows`` commits.
    """

    grouping: float = 0.005
    checkpoint: float = 0.5
    eviction: float = 30.0
    journal_rows: int = 1_000
