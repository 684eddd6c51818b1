"""Checkpoints that drop what nobody else holds, or put an older document in place of a newer one."""

from __future__ import annotations

import attrs

from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.ports.collaboration import Checkpoint
from chopin_core.ports.leases import Lease

from mutants import memory


class PrunesFirst(MemoryCollaborationStore):
    """The journal is pruned before anybody asks whether the checkpoint will be kept."""

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        tables = await self._connection.turn()
        history = tables.histories.get(checkpoint.channel_id)
        if history is not None:
            history.updates[:] = (update for update in history.updates if update.sequence > checkpoint.through)
        await super().checkpoint(checkpoint, lease=lease)


class PrunesEverything(MemoryCollaborationStore):
    """What came after the checkpoint goes with what it covers."""

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        await super().checkpoint(checkpoint, lease=lease)
        self._connection.tables.histories[checkpoint.channel_id].updates.clear()


class GoesBack(MemoryCollaborationStore):
    """One that covers less than the stored one takes its place."""

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        history = self._connection.tables.histories.get(checkpoint.channel_id)
        if history is not None and history.snapshot is not None and checkpoint.through < history.snapshot.through:
            history.snapshot = attrs.evolve(history.snapshot, through=checkpoint.through)
        await super().checkpoint(checkpoint, lease=lease)


class PrunesInASecondStep(MemoryCollaborationStore):
    """The snapshot is there before what it covers is gone."""

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        before = self._connection.tables.histories.get(checkpoint.channel_id)
        covered = [] if before is None else [kept for kept in before.updates if kept.sequence <= checkpoint.through]
        await super().checkpoint(checkpoint, lease=lease)
        history = self._connection.tables.histories[checkpoint.channel_id]
        history.updates[:0] = covered
        await self._connection.turn()
        history.updates[:] = (kept for kept in history.updates if kept.sequence > checkpoint.through)


prune_on_a_refused_checkpoint = memory.adapter(collaboration=PrunesFirst)
prune_what_is_not_covered = memory.adapter(collaboration=PrunesEverything)
through_lowered = memory.adapter(collaboration=GoesBack)
prune_in_a_second_step = memory.adapter(collaboration=PrunesInASecondStep)
