"""Writes that take no account of what was written since their author last read."""

from __future__ import annotations

import copy

import attrs

from chopin_core.counters import StorageRevision
from chopin_core.errors import ChopinError, StaleWrite
from chopin_core.ids import ChannelId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.ports.collaboration import Checkpoint, Commit, CommitResult, Replacement
from chopin_core.ports.leases import Lease

from mutants import memory, postgres


class Unchecked(MemoryCollaborationStore):
    """Whatever revision is expected, the one that is found will do."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        try:
            return await super().commit(commit, lease=lease)
        except StaleWrite as stale:
            return await self.commit(attrs.evolve(commit, expected=StorageRevision(stale.actual)), lease=lease)

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        try:
            return await super().replace(replacement, lease=lease)
        except StaleWrite as stale:
            return await self.replace(attrs.evolve(replacement, expected=StorageRevision(stale.actual)), lease=lease)

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        try:
            await super().checkpoint(checkpoint, lease=lease)
        except StaleWrite as stale:
            await self.checkpoint(attrs.evolve(checkpoint, revision=StorageRevision(stale.actual)), lease=lease)


class LastWriteWins(MemoryCollaborationStore):
    """A commit is written over the history as it was read, and who wrote meanwhile is forgotten."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        tables = self._connection.tables
        read = copy.deepcopy((tables.channels.get(commit.channel_id), tables.histories.get(commit.channel_id)))
        await self._connection.turn()
        channel, history = read
        if channel is not None and history is not None and channel.revision == commit.expected:
            tables.channels[channel.id], tables.histories[channel.id] = channel, history
        return await super().commit(commit, lease=lease)


class CountsRefusals(MemoryCollaborationStore):
    """A refused write has used up a sequence."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        try:
            return await super().commit(commit, lease=lease)
        except ChopinError:
            self._count(commit.channel_id)
            raise

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        try:
            return await super().replace(replacement, lease=lease)
        except ChopinError:
            self._count(replacement.channel_id)
            raise

    def _count(self, channel_id: ChannelId) -> None:
        history = self._connection.tables.histories.get(channel_id)
        if history is not None:
            history.latest = type(history.latest)(history.latest + 1)


no_revision_check = memory.adapter(collaboration=Unchecked)
last_write_wins = memory.adapter(collaboration=LastWriteWins)
counters_raised_on_failure = memory.adapter(collaboration=CountsRefusals)

_CHECKED = "ELSIF at_revision <> p_expected THEN"
_LOCKED = "FROM channels c WHERE c.id = p_channel FOR NO KEY UPDATE;"
_NUMBERED = "at_revision := at_revision + 1;"
_OPERATION = "VALUES (p_channel, p_operation, at_sequence, at_revision)"
_JOURNAL = "VALUES (p_channel, at_sequence, at_revision, p_epoch, p_update)"
_STALE = "outcome := 'stale';"

no_revision_check_sql = postgres.with_passages((_CHECKED, "ELSIF FALSE THEN"))
no_channel_lock_sql = postgres.with_passages((_LOCKED, "FROM channels c WHERE c.id = p_channel;"))
last_write_wins_sql = postgres.with_passages(
    (_CHECKED, "ELSIF FALSE THEN"),
    (_NUMBERED, "at_revision := p_expected + 1; at_sequence := p_expected + 1;"),
    (_OPERATION, f"{_OPERATION} ON CONFLICT (channel_id, sequence) DO UPDATE SET operation_id = excluded.operation_id"),
    (_JOURNAL, f"{_JOURNAL} ON CONFLICT (channel_id, sequence) DO UPDATE SET update = excluded.update"),
)
counters_raised_on_failure_sql = postgres.with_passages(
    (_STALE, f"{_STALE} UPDATE channels SET next_sequence = next_sequence + 1 WHERE id = p_channel;")
)
