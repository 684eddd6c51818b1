"""The guard of every durable write: whoever may have lost the lease must not write, and whoever takes it over must wait."""

from __future__ import annotations

from sqlalchemy import and_, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import LeaseLost
from chopin_core.ports.leases import Lease
from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.tables import storage_leases


async def hold(connection: AsyncConnection, lease: Lease) -> None:
    """
    Keep the lease from being taken over until the transaction ends, and wait for other writes under it.

    A renewal is not kept waiting: it locks the row FOR NO KEY UPDATE, which FOR KEY SHARE allows. ``chopin_commit`` does
    the same in its first statement.
    """
    guarded = (
        select(storage_leases.c.name).where(storage_leases.c.name == lease.name).with_for_update(key_share=True, read=True)
    )
    row = guarded.subquery()
    await connection.execute(select(func.pg_advisory_xact_lock(LEASE_LOCKS, func.hashtext(row.c.name))))


async def judge(connection: AsyncConnection, lease: Lease) -> None:
    """
    Refuse unless the lease is held now, on the server's clock.

    To be asked after :func:`hold` and after every other wait, in a statement of its own: one that began before a wait would
    judge what was true then.

    Raises:
        LeaseLost: it is not.
    """
    held = select(literal(True)).where(
        and_(
            storage_leases.c.name == lease.name,
            storage_leases.c.owner == lease.owner,
            storage_leases.c.fencing == lease.fencing,
            storage_leases.c.expires_at > func.clock_timestamp(),
        )
    )
    if await connection.scalar(held) is None:
        raise LeaseLost(lease.name, lease.fencing)
