"""Pruning from the first channel to the last, as a sweep in the background does."""

from __future__ import annotations

from datetime import timedelta

from chopin_core.ids import ChannelId
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruning
from chopin_core.ports.storage import Storage

NOTHING = timedelta(0)
"""A window that is over as soon as an operation is kept."""


async def swept(storage: Storage, lease: Lease, older_than: timedelta = NOTHING, *, limit: int = 100) -> list[int]:
    """How many operations went in each step."""
    steps, start = list[int](), None
    while True:
        pruned = await storage.collaboration.prune(Pruning(older_than=older_than, limit=limit, start=start), lease=lease)
        steps.append(pruned.operations)
        if pruned.next is None:
            return steps
        assert pruned.next >= (start or ChannelId("")), "a sweep goes forward"
        start = pruned.next
