"""Leases in memory, and the fence they are for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import attrs

from chopin_core.counters import FencingToken
from chopin_core.errors import LeaseLost
from chopin_core.memory.tables import Connection, Tables
from chopin_core.ports.leases import Lease
from chopin_core.text import key, storable

_LONG_AGO = datetime.fromtimestamp(0, UTC)


def fence(tables: Tables, lease: Lease, now: datetime) -> None:
    """Pass only a lease that is held at this moment."""
    if not _matches(tables, lease) or tables.leases[lease.name].expires_at <= now:
        raise LeaseLost(lease.name, lease.fencing)


async def fenced(connection: Connection, lease: Lease) -> Tables:
    """The tables for a guarded write, as :meth:`Connection.turn` gives them, if the lease is held."""
    tables = await connection.turn()
    fence(tables, lease, connection.clock())
    return tables


def _matches(tables: Tables, lease: Lease) -> bool:
    kept = tables.leases.get(lease.name)
    return kept is not None and (kept.owner, kept.fencing) == (lease.owner, lease.fencing)


@attrs.frozen
class MemoryLeaseStore:
    _connection: Connection

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> Lease | None:
        key(name, "name")
        storable(owner, "owner")
        tables = await self._connection.turn()
        now = self._connection.clock()
        fencing = 1
        kept = tables.leases.get(name)
        if kept is not None and kept.expires_at > now:
            if kept.owner != owner:
                return None
            fencing = kept.fencing
        elif kept is not None:
            fencing = kept.fencing + 1
        tables.leases[name] = Lease(name=name, owner=owner, fencing=FencingToken(fencing), expires_at=now + ttl)
        return tables.leases[name]

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        tables = await self._connection.turn()
        now = self._connection.clock()
        if not _matches(tables, lease) or tables.leases[lease.name].expires_at <= now:
            return None
        tables.leases[lease.name] = attrs.evolve(tables.leases[lease.name], expires_at=now + ttl)
        return tables.leases[lease.name]

    async def release(self, lease: Lease) -> bool:
        tables = await self._connection.turn()
        if not _matches(tables, lease):
            return False
        tables.leases[lease.name] = attrs.evolve(tables.leases[lease.name], expires_at=_LONG_AGO)
        return True

    async def holder(self, name: str) -> Lease | None:
        tables = await self._connection.turn()
        kept = tables.leases.get(name)
        return kept if kept is not None and kept.expires_at > self._connection.clock() else None
