"""Blocks of research that nobody asks about, and conversations that are cleared where they must stay."""

from __future__ import annotations

import asyncio

import attrs

from chopin_core.conversations import without_conversation
from chopin_core.ids import OperationId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.tables import KeptSidecar
from chopin_core.ports.collaboration import Commit, CommitResult, DroppedConversations
from chopin_core.ports.leases import Lease

from mutants import memory


class BlocksUnasked(MemoryCollaborationStore):
    """A commit adds and takes away blocks as it likes."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        return await super().commit(attrs.evolve(commit, projections=()), lease=lease)


class RepeatsAskedAgain(MemoryCollaborationStore):
    """A repeat is refused by what became of the request since."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        known = self._connection.tables.histories.get(commit.channel_id)
        if known is not None and commit.operation_id in known.operations and commit.projections:
            revision = self._connection.tables.channels[commit.channel_id].revision
            fresh = attrs.evolve(commit, operation_id=OperationId(f"again {commit.operation_id}"), expected=revision)
            return await super().commit(fresh, lease=lease)
        return await super().commit(commit, lease=lease)


class ParentsCleared(MemoryCollaborationStore):
    """Every document loses its conversation, not only children."""

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        dropped = await super().drop_child_conversations(lease=lease)
        tables = self._connection.tables
        for id, channel in tables.channels.items():
            kept = tables.histories[id].sidecar
            if channel.parent_id is None and kept is not None:
                tables.histories[id].sidecar = KeptSidecar.of(without_conversation(kept.record()))
        return dropped


class SnapshotsForgotten(MemoryCollaborationStore):
    """The copy in the snapshot keeps the conversation."""

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        snapshots = {id: history.snapshot for id, history in self._connection.tables.histories.items()}
        dropped = await super().drop_child_conversations(lease=lease)
        for id, snapshot in snapshots.items():
            self._connection.tables.histories[id].snapshot = snapshot
        return dropped


class ClearedByAnybody(MemoryCollaborationStore):
    """Nobody asks for the lease."""

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        await asyncio.sleep(0)
        return await super().drop_child_conversations(lease=self._connection.tables.leases.get(lease.name, lease))


blocks_unasked = memory.adapter(collaboration=BlocksUnasked)
repeats_asked_again = memory.adapter(collaboration=RepeatsAskedAgain)
parents_cleared = memory.adapter(collaboration=ParentsCleared)
snapshots_forgotten = memory.adapter(collaboration=SnapshotsForgotten)
cleared_by_anybody = memory.adapter(collaboration=ClearedByAnybody)
