"""The lease store. Every instant here is the server's."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import case, func, select, update
from sqlalchemy.dialects.postgresql import insert

from chopin_core.counters import FencingToken
from chopin_core.errors import ChopinError, OutcomeUnknown
from chopin_core.ports.leases import Lease
from chopin_core.text import key, storable
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections, DriverConnection, driver_of
from chopin_storage_pg.faults import Keeping, keeping
from chopin_storage_pg.sessions import LostSessions, OwnSession
from chopin_storage_pg.tables import storage_leases

ABANDONED_AFTER: Final = 6.0
"""Seconds without any reply after which a renewal is given up, its connection with it."""

_ENDS_WITHIN: Final = 1.0
_LONG_AGO: Final = datetime.fromtimestamp(0, UTC)

RENEWING: Final = ("SET statement_timeout = '5s'", "SET idle_in_transaction_session_timeout = '2s'")
"""
How the session for renewals is set up. A renewal that the server cannot do in time fails there, and one whose client vanished
between two statements does not keep the lease's row.
"""


class PgLeaseStore:
    """Renewals have a session of their own: they must not wait for the pool, which the writes they protect may have used up."""

    def __init__(self, connections: Connections, session: OwnSession, lost: LostSessions) -> None:
        self._connections = connections
        self._session = session
        self._lost = lost
        self._turn = asyncio.Lock()
        self._abandoned: set[asyncio.Task[Lease | None]] = set()

    async def acquire(self, name: str, owner: str, ttl: timedelta) -> Lease | None:
        key(name, "name")
        storable(owner, "owner")
        expiry = func.clock_timestamp() + ttl
        async with self._connections.writing() as connection:
            first = insert(storage_leases).values(name=name, owner=owner, fencing=1, expires_at=expiry)
            taken = (
                await connection.execute(
                    first.on_conflict_do_nothing(index_elements=[storage_leases.c.name]).returning(storage_leases)
                )
            ).one_or_none()
            if taken is None:
                # Waits for writes in flight; what is true of the lease is asked after that, in the next statement.
                await connection.execute(select(storage_leases.c.name).where(storage_leases.c.name == name).with_for_update())
                free = storage_leases.c.expires_at <= func.clock_timestamp()
                taken = (
                    await connection.execute(
                        update(storage_leases)
                        .where(storage_leases.c.name == name, free | (storage_leases.c.owner == owner))
                        .values(
                            owner=owner,
                            fencing=storage_leases.c.fencing + case((free, 1), else_=0),
                            expires_at=expiry,
                        )
                        .returning(storage_leases)
                    )
                ).one_or_none()
        return None if taken is None else lease_of(*taken)

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        if not rows.can_exist(lease.name, lease.owner):
            return None
        async with self._turn:
            attempt = asyncio.create_task(self._renew(lease, ttl))
            try:
                await asyncio.wait({attempt}, timeout=ABANDONED_AFTER)
            except BaseException:  # a cancellation, or whatever else ends the wait: the attempt must not outlive it
                await self._give_up(attempt)
                raise
            if attempt.done():
                return attempt.result()
            await self._give_up(attempt)
            raise OutcomeUnknown("RenewalAbandoned")

    async def release(self, lease: Lease) -> bool:
        if not rows.can_exist(lease.name, lease.owner):
            return False
        async with self._connections.writing() as connection:
            result = await connection.execute(
                update(storage_leases)
                .where(
                    storage_leases.c.name == lease.name,
                    storage_leases.c.owner == lease.owner,
                    storage_leases.c.fencing == lease.fencing,
                )
                .values(expires_at=_LONG_AGO)
            )
            return result.rowcount == 1

    async def holder(self, name: str) -> Lease | None:
        if not rows.can_exist(name):
            return None
        async with self._connections.single() as connection:
            row = (
                await connection.execute(
                    select(storage_leases).where(
                        storage_leases.c.name == name, storage_leases.c.expires_at > func.clock_timestamp()
                    )
                )
            ).one_or_none()
        return None if row is None else lease_of(*row)

    async def _renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        with keeping() as write:
            connection = await self._session.connection()
            try:
                return await _extended(connection, lease, ttl, write)
            except BaseException:
                await self._session.settle(connection)
                raise

    async def _give_up(self, attempt: asyncio.Task[Lease | None]) -> None:
        """Leave an attempt that does not end to itself, and have the server end its session, so that it locks nothing."""
        attempt.cancel()
        await asyncio.wait({attempt}, timeout=_ENDS_WITHIN)
        if attempt.done():
            return
        self._abandoned.add(attempt)
        attempt.add_done_callback(self._abandoned.discard)
        self._session.forget()
        with contextlib.suppress(TimeoutError, ChopinError):  # the attempt has failed either way; the next one tries again
            async with asyncio.timeout(_ENDS_WITHIN), self._connections.single() as connection:
                await self._lost.end(await driver_of(connection))


async def _extended(connection: DriverConnection, lease: Lease, ttl: timedelta, write: Keeping) -> Lease | None:
    async with connection.transaction():
        # Lock first, then look at the expiry: a renewal that had to wait for a takeover must judge by the time after it.
        await connection.execute("SELECT FROM storage_leases WHERE name = %s FOR NO KEY UPDATE", (lease.name,))
        cursor = await connection.execute(
            "UPDATE storage_leases SET expires_at = clock_timestamp() + %s"
            " WHERE name = %s AND owner = %s AND fencing = %s AND expires_at > clock_timestamp()"
            " RETURNING name, owner, fencing, expires_at",
            (ttl, lease.name, lease.owner, lease.fencing),
        )
        row = await cursor.fetchone()
        write.asked = True
    return None if row is None else lease_of(*row)


def lease_of(name: str, owner: str, fencing: int, expires_at: datetime) -> Lease:
    return Lease(
        name=name,
        owner=owner,
        fencing=FencingToken(rows.count(fencing, f"lease {name}", "fencing", least=1)),
        expires_at=rows.utc(expires_at),
    )
