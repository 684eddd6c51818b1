"""Which of lease, renewal, takeover and guarded write waits for which, and what it finds after the wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeAlias

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase

from made import checkpoint, commit, replacement
from watch import Session, Watch

MINUTE = timedelta(minutes=1)
SOON = 0.3

Write: TypeAlias = Callable[[PgStorage, Channel, Lease], Coroutine[Any, Any, None]]


async def commits(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel), lease=lease)


async def retitles(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, title=TitleChange(title="New")), lease=lease)


async def replaces(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(channel), lease=lease)


async def checkpoints(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.checkpoint(checkpoint(channel), lease=lease)


@pytest.fixture(params=[commits, retitles, replaces, checkpoints])
def write(request: pytest.FixtureRequest) -> Write:
    """Each of the writes that a lease guards."""
    guarded: Write = request.param
    return guarded


async def brief(storage: PgStorage) -> Lease:
    lease = await storage.leases.acquire("brief", "tests", timedelta(seconds=SOON))
    assert lease is not None
    return lease


async def until_expired(watch: Watch, lease: Lease) -> None:
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases WHERE name = %s", lease.name)


async def held_up(obstacle: Session, channel: Channel) -> None:
    """Keep every write of the channel waiting until the obstacle's transaction ends."""
    await obstacle.execute("SELECT FROM channels WHERE id = %s FOR UPDATE", (channel.id,))


async def test_a_renewal_does_not_wait_for_a_write_in_flight(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch, write: Write
) -> None:
    await held_up(obstacle, channel)
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()

    async with asyncio.timeout(2):
        renewed = await storage.leases.renew(lease, timedelta(hours=1))

    assert renewed is not None
    assert renewed.expires_at > lease.expires_at
    assert not writing.done()
    await obstacle.rollback()
    await writing


# cases.md 85
async def test_a_takeover_waits_for_a_write_in_flight(
    storage: PgStorage, database: ScratchDatabase, channel: Channel, obstacle: Session, watch: Watch, write: Write
) -> None:
    lease = await brief(storage)
    await held_up(obstacle, channel)
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    await until_expired(watch, lease)

    async with await database.connect() as successor:
        taking = asyncio.create_task(successor.leases.acquire(lease.name, "successor", MINUTE))
        await watch.until_waiting(2)
        assert not taking.done()

        await obstacle.rollback()
        # The write found its lease expired after its own wait, and only then was the lease taken over.
        with pytest.raises(LeaseLost):
            await writing
        taken = await taking
    assert taken is not None
    assert taken.fencing == lease.fencing + 1
    assert await watch.value("SELECT count(*) FROM channel_operations") == 0


# cases.md 85
async def test_a_write_that_waited_for_a_takeover_is_refused(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch, write: Write
) -> None:
    await obstacle.execute("SELECT FROM storage_leases WHERE name = %s FOR UPDATE", (lease.name,))
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    await obstacle.execute("UPDATE storage_leases SET owner = 'successor', fencing = fencing + 1")
    await obstacle.commit()

    with pytest.raises(LeaseLost):
        await writing


async def test_a_write_whose_lease_expires_while_it_waits_for_another_write_is_refused(
    storage: PgStorage, channel: Channel, obstacle: Session, watch: Watch, write: Write
) -> None:
    lease = await brief(storage)
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    await until_expired(watch, lease)
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await writing


async def test_writes_under_one_lease_run_one_at_a_time(
    storage: PgStorage, database: ScratchDatabase, channel: Channel, lease: Lease, obstacle: Session, watch: Watch, write: Write
) -> None:
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    assert not writing.done()

    other = await storage.leases.acquire("other", "tests", MINUTE)
    assert other is not None
    async with await database.connect() as elsewhere, asyncio.timeout(2):
        await checkpoints(elsewhere, channel, other)

    await obstacle.rollback()
    await writing


async def test_a_renewal_that_waited_for_a_takeover_cannot_extend_what_expired_meanwhile(
    storage: PgStorage, obstacle: Session, watch: Watch
) -> None:
    lease = await brief(storage)
    await obstacle.execute("SELECT FROM storage_leases WHERE name = %s FOR UPDATE", (lease.name,))
    renewing = asyncio.create_task(storage.leases.renew(lease, MINUTE))
    await watch.until_waiting()
    await until_expired(watch, lease)
    await obstacle.rollback()

    assert await renewing is None
    assert await storage.leases.holder(lease.name) is None


async def test_a_takeover_that_waited_for_a_renewal_is_refused(storage: PgStorage, obstacle: Session, watch: Watch) -> None:
    lease = await brief(storage)
    await obstacle.execute("UPDATE storage_leases SET expires_at = clock_timestamp() + interval '1 minute'")
    taking = asyncio.create_task(storage.leases.acquire(lease.name, "successor", MINUTE))
    await watch.until_waiting()
    await obstacle.commit()

    assert await taking is None
