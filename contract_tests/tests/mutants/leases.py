"""Leases that two hold at once, or whose holders cannot be told apart."""

from __future__ import annotations

from datetime import timedelta

import attrs

from chopin_core.counters import FencingToken
from chopin_core.memory.leases import MemoryLeaseStore
from chopin_core.ports.leases import Lease

from mutants import memory


class KeepsTheToken(MemoryLeaseStore):
    """Whoever takes a lease over writes under the token of the one before."""

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> Lease | None:
        before = self._connection.tables.leases.get(name)
        lease = await super().acquire(name, owner, ttl)
        if lease is None or before is None:
            return lease
        kept = attrs.evolve(lease, fencing=before.fencing)
        self._connection.tables.leases[name] = kept
        return kept


class LooksBeforeItTakes(MemoryLeaseStore):
    """Whether the lease is free is asked in one step, and it is taken in the next."""

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> Lease | None:
        holder = await super().holder(name)
        if holder is not None and holder.owner != owner:
            return None
        before = self._connection.tables.leases.get(name)
        fencing = holder.fencing if holder else FencingToken(1) if before is None else FencingToken(before.fencing + 1)
        await self._connection.turn()
        lease = Lease(name=name, owner=owner, fencing=fencing, expires_at=self._connection.clock() + ttl)
        self._connection.tables.leases[name] = lease
        return lease


class RevivesTheExpired(MemoryLeaseStore):
    """A lease that ran out is renewed as long as nobody else took it."""

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        kept = self._connection.tables.leases.get(lease.name)
        if kept is not None and (kept.owner, kept.fencing) == (lease.owner, lease.fencing):
            self._connection.tables.leases[lease.name] = attrs.evolve(kept, expires_at=self._connection.clock() + ttl)
        return await super().renew(lease, ttl)


token_not_raised = memory.adapter(leases=KeepsTheToken)
two_holders = memory.adapter(leases=LooksBeforeItTakes)
expired_lease_renewed = memory.adapter(leases=RevivesTheExpired)
