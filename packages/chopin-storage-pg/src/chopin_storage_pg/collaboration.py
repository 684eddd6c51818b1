"""The collaboration store: each promise of the port, and the module that keeps it."""

from __future__ import annotations

from functools import partial

from chopin_core.errors import ChannelMissing, LeaseLost
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import Checkpoint, Commit, CommitResult, DroppedConversations, Replacement, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_storage_pg import accompanied, conversations, fences, loading, pruning, rows, snapshots
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.grouping import GroupedCommits
from chopin_storage_pg.outcomes import Outcomes


class PgCollaborationStore:
    def __init__(self, connections: Connections, grouped: GroupedCommits, outcomes: Outcomes) -> None:
        self._connections = connections
        self._grouped = grouped
        self._outcomes = outcomes

    async def load(self, channel_id: ChannelId) -> StoredChannel | None:
        if not rows.can_exist(channel_id):
            return None
        async with self._connections.reading() as connection:
            return await loading.load(connection, channel_id)

    async def operation(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        if not rows.can_exist(channel_id, operation_id):
            return None
        await self._grouped.at_rest()
        [found] = await self._outcomes.find([(channel_id, operation_id)])
        return found

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        await self._refuse_impossible(commit.channel_id, lease)
        if commit.title is None and not commit.projections:
            return await self._grouped.keep(commit, lease)
        asked = (commit.channel_id, commit.operation_id)
        return await self._outcomes.decide(asked, partial(accompanied.keep, commit=commit, lease=lease))

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        await self._refuse_impossible(replacement.channel_id, lease)
        asked = (replacement.channel_id, replacement.operation_id)
        return await self._outcomes.decide(asked, partial(snapshots.replace, wanted=replacement, lease=lease))

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        await self._refuse_impossible(checkpoint.channel_id, lease)
        async with self._connections.writing() as connection:
            await snapshots.checkpoint(connection, checkpoint, lease)

    async def prune(self, wanted: Pruning, *, lease: Lease) -> Pruned:
        _refuse_impossible_lease(lease)
        async with self._connections.writing() as connection:
            return await pruning.prune(connection, wanted, lease)

    async def drop_child_conversations(self, *, lease: Lease) -> DroppedConversations:
        _refuse_impossible_lease(lease)
        return await conversations.drop(self._connections, lease)

    async def _refuse_impossible(self, channel_id: ChannelId, lease: Lease) -> None:
        """What no text column can hold is neither a lease nor a channel, and the driver need not be asked."""
        _refuse_impossible_lease(lease)
        if not rows.can_exist(channel_id):
            async with self._connections.single() as connection:
                await fences.judge(connection, lease)
            raise ChannelMissing(channel_id)


def _refuse_impossible_lease(lease: Lease) -> None:
    if not rows.can_exist(lease.name, lease.owner):
        raise LeaseLost(lease.name, lease.fencing)
