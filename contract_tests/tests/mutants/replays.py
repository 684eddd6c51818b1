"""Operations that are not recognised when they are asked for again, or are taken for others."""

from __future__ import annotations

import attrs

from chopin_core.errors import ChannelArchived
from chopin_core.ids import ChannelId, OperationId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.ports.collaboration import Checkpoint, Commit, CommitResult, Replacement
from chopin_core.ports.leases import Lease

from mutants import memory


class ComparesPayloads(MemoryCollaborationStore):
    """A repeat is one only if it carries the same; anything else under its id counts as a new operation."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        history = self._connection.tables.histories.get(commit.channel_id)
        if history is not None and commit.operation_id in history.operations:
            first = history.operations[commit.operation_id].result
            kept = [update.update for update in history.updates if update.sequence == first.sequence]
            if kept != ([] if commit.update is None else [commit.update]):
                commit = attrs.evolve(commit, operation_id=OperationId(commit.operation_id + " again"))
        return await super().commit(commit, lease=lease)


class ArchiveFirst(MemoryCollaborationStore):
    """An archived channel does not even answer for what it kept before."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        result = await super().commit(commit, lease=lease)
        if result.repeated and self._connection.tables.channels[commit.channel_id].archived:
            raise ChannelArchived(commit.channel_id)
        return result


class ForgetsWithTheJournal(MemoryCollaborationStore):
    """Operations are dropped together with the updates that a checkpoint covers."""

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        await super().checkpoint(checkpoint, lease=lease)
        operations = self._connection.tables.histories[checkpoint.channel_id].operations
        for operation_id in [id for id, kept in operations.items() if kept.result.sequence <= checkpoint.through]:
            del operations[operation_id]


class ForgetsWithTheHistory(MemoryCollaborationStore):
    """A replacement starts anew in this too."""

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        result = await super().replace(replacement, lease=lease)
        operations = self._connection.tables.histories[replacement.channel_id].operations
        for operation_id in operations.keys() - {replacement.operation_id}:
            del operations[operation_id]
        return result


class OneSpaceOfIds(MemoryCollaborationStore):
    """An operation id that another channel used counts as a repeat here."""

    async def operation(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        for history in self._connection.tables.histories.values():
            if operation_id in history.operations:
                return attrs.evolve(history.operations[operation_id].result, repeated=True)
        return await super().operation(channel_id, operation_id)

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        return await self.operation(commit.channel_id, commit.operation_id) or await super().commit(commit, lease=lease)


compared_by_payload = memory.adapter(collaboration=ComparesPayloads)
after_the_archive_check = memory.adapter(collaboration=ArchiveFirst)
dropped_with_the_journal = memory.adapter(collaboration=ForgetsWithTheJournal)
dropped_with_the_history = memory.adapter(collaboration=ForgetsWithTheHistory)
shared_by_all_channels = memory.adapter(collaboration=OneSpaceOfIds)
