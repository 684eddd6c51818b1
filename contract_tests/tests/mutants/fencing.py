"""Writes that are let through without the lease they need, or without waiting for it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import attrs

from chopin_core.counters import FencingToken
from chopin_core.errors import LeaseLost
from chopin_core.ids import ChannelId, OperationId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.leases import fence
from chopin_core.ports.collaboration import Checkpoint, Commit, CommitResult, Replacement
from chopin_core.ports.leases import Lease

from mutants import memory, postgres

_ALWAYS_HELD = Lease(name="of the mutant", owner="mutant", fencing=FencingToken(1), expires_at=datetime.max.replace(tzinfo=UTC))


class Unfenced(MemoryCollaborationStore):
    """Writes under a lease that is always held, after whatever :meth:`admit` asks of the caller's."""

    async def admit(self, lease: Lease) -> None:
        """No fence."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        return await super().commit(commit, lease=await self._admitted(lease))

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        return await super().replace(replacement, lease=await self._admitted(lease))

    async def checkpoint(self, checkpoint: Checkpoint, *, lease: Lease) -> None:
        await super().checkpoint(checkpoint, lease=await self._admitted(lease))

    async def _admitted(self, lease: Lease) -> Lease:
        await self.admit(lease)
        self._connection.tables.leases[_ALWAYS_HELD.name] = _ALWAYS_HELD
        return _ALWAYS_HELD


class ReadBeforeTheLock(Unfenced):
    """The fence is asked, and then the tables are waited for, as long as a lock that others have."""

    async def admit(self, lease: Lease) -> None:
        fence(self._connection.tables, lease, self._connection.clock())
        await asyncio.sleep(0.002)


class Undying(Unfenced):
    """A lease counts after its expiry, until somebody else takes it."""

    async def admit(self, lease: Lease) -> None:
        kept = self._connection.tables.leases.get(lease.name)
        if kept is None or (kept.owner, kept.fencing) != (lease.owner, lease.fencing):
            raise LeaseLost(lease.name, lease.fencing)


class Trusting(Unfenced):
    """The expiry that counts is the one the caller says."""

    async def admit(self, lease: Lease) -> None:
        kept = self._connection.tables.leases.get(lease.name)
        if kept is None or (kept.owner, kept.fencing) != (lease.owner, lease.fencing):
            raise LeaseLost(lease.name, lease.fencing)
        if lease.expires_at <= self._connection.clock():
            raise LeaseLost(lease.name, lease.fencing)


class Tokenless(Unfenced):
    """Owners are told apart, but not the same owner before and after it lost the lease."""

    async def admit(self, lease: Lease) -> None:
        kept = self._connection.tables.leases.get(lease.name)
        fence(
            self._connection.tables,
            lease if kept is None else attrs.evolve(lease, fencing=kept.fencing),
            self._connection.clock(),
        )


class AnswersAnybody(MemoryCollaborationStore):
    """What was kept before is answered again without asking for the lease."""

    async def commit(self, commit: Commit, *, lease: Lease) -> CommitResult:
        return await self._kept(commit.channel_id, commit.operation_id) or await super().commit(commit, lease=lease)

    async def replace(self, replacement: Replacement, *, lease: Lease) -> CommitResult:
        kept = await self._kept(replacement.channel_id, replacement.operation_id)
        return kept or await super().replace(replacement, lease=lease)

    async def _kept(self, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
        return await super().operation(channel_id, operation_id)


no_fence = memory.adapter(collaboration=Unfenced)
read_before_the_lock = memory.adapter(collaboration=ReadBeforeTheLock)
expired_lease_accepted = memory.adapter(collaboration=Undying)
callers_clock = memory.adapter(collaboration=Trusting)
token_not_compared = memory.adapter(collaboration=Tokenless)
repeat_without_lease = memory.adapter(collaboration=AnswersAnybody)

_LOCKED = "FROM storage_leases WHERE name = p_lease FOR KEY SHARE;"
_JUDGED = """
    SELECT l.owner = p_owner AND l.fencing = p_fencing AND l.expires_at > clock_timestamp() INTO held
        FROM storage_leases l WHERE l.name = p_lease;
"""

no_fence_sql = postgres.with_passages(("IF held IS NOT TRUE THEN", "IF FALSE THEN"))
read_before_the_lock_sql = postgres.with_passages((_JUDGED, ""), ("\nBEGIN\n", f"\nBEGIN\n{_JUDGED}"))
takeover_does_not_wait_sql = postgres.with_passages((_LOCKED, "FROM storage_leases WHERE name = p_lease;"))
