"""Sweeps that forget too much, too little, or more than they were asked to."""

from __future__ import annotations

from datetime import timedelta

import attrs

from chopin_core.counters import StorageSequence
from chopin_core.errors import LeaseLost
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.tables import utc
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning

from mutants import memory


class NoWindow(MemoryCollaborationStore):
    """Everything there is counts as old."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        return await super().prune(attrs.evolve(pruning, older_than=timedelta(0)), lease=lease)


class CallersClock(MemoryCollaborationStore):
    """An operation is as old as whoever made it says."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        result = await super().commit(commit, lease=lease)
        operations = self._connection.tables.histories[commit.channel_id].operations
        operations[commit.operation_id] = attrs.evolve(operations[commit.operation_id], kept_at=utc(commit.now))
        return result


class KeepsEvents(MemoryCollaborationStore):
    """Ids go, and what happened under them stays."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        before = {id: dict(history.events) for id, history in self._connection.tables.histories.items()}
        pruned = await super().prune(pruning, lease=lease)
        for id, events in before.items():
            self._connection.tables.histories[id].events.update(events)
        return pruned


class TakesTheJournal(MemoryCollaborationStore):
    """The updates of forgotten operations go with them."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        pruned = await super().prune(pruning, lease=lease)
        for history in self._connection.tables.histories.values():
            known = {kept.result.sequence for kept in history.operations.values()}
            history.updates[:] = (update for update in history.updates if update.sequence in known)
        return pruned


class NoLease(MemoryCollaborationStore):
    """A sweep is taken for harmless, whoever makes it."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        try:
            return await super().prune(pruning, lease=lease)
        except LeaseLost:
            held = next(iter(self._connection.tables.leases.values()))
            return await super().prune(pruning, lease=held)


class PassesTheArchiveBy(MemoryCollaborationStore):
    """Nobody writes there any more, so nobody looks there."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        tables = self._connection.tables
        away = {id: dict(tables.histories[id].operations) for id, channel in tables.channels.items() if channel.archived}
        for id in away:
            tables.histories[id].operations.clear()
        try:
            return await super().prune(pruning, lease=lease)
        finally:
            for id, operations in away.items():
                tables.histories[id].operations.update(operations)


class CountsAnew(MemoryCollaborationStore):
    """The last sequence is that of the last operation still known."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        pruned = await super().prune(pruning, lease=lease)
        for history in self._connection.tables.histories.values():
            known = [kept.result.sequence for kept in history.operations.values()]
            history.latest = max(known, default=StorageSequence(0))
        return pruned


class NoLimit(MemoryCollaborationStore):
    """One step does it all, however long that takes."""

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        return await super().prune(attrs.evolve(pruning, limit=10_000), lease=lease)


no_window = memory.adapter(collaboration=NoWindow)
callers_clock = memory.adapter(collaboration=CallersClock)
events_kept = memory.adapter(collaboration=KeepsEvents)
journal_taken = memory.adapter(collaboration=TakesTheJournal)
no_lease = memory.adapter(collaboration=NoLease)
archive_passed_by = memory.adapter(collaboration=PassesTheArchiveBy)
counted_anew = memory.adapter(collaboration=CountsAnew)
no_limit = memory.adapter(collaboration=NoLimit)
