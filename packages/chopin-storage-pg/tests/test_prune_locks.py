"""Whom a step of a sweep waits for, whom it holds up, and what it makes of what changed meanwhile."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost
from chopin_core.ids import OperationId
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.storage import PgStorage

from made import commit, creation, event
from watch import Session, Watch

EVERYTHING = Pruning(older_than=timedelta(0), limit=100)
OPERATIONS = "SELECT count(*) FROM channel_operations"
EVENTS = "SELECT count(*) FROM channel_events"


async def written(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    made = commit(channel, operation_id=OperationId("operation"), events=(event("event"),))
    await storage.collaboration.commit(made, lease=lease)


async def test_an_operation_in_flight_is_not_touched_however_old_it_looks(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("UPDATE channels SET revision = 1, next_sequence = 2")
    await obstacle.execute("INSERT INTO channel_operations VALUES (%s, 'operation', 1, 1, '2000-01-01')", (channel.id,))

    assert await storage.collaboration.prune(EVERYTHING, lease=lease) == Pruned(operations=0, next=None)
    await obstacle.commit()

    assert await watch.value(OPERATIONS) == 1
    assert await storage.collaboration.prune(EVERYTHING, lease=lease) == Pruned(operations=1, next=None)


async def test_a_step_with_nothing_to_take_holds_nobody_up(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session
) -> None:
    await written(storage, channel, lease)
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
    await obstacle.execute("SELECT FROM storage_leases, channels FOR UPDATE")

    step = Pruning(older_than=timedelta(days=1), limit=100)
    async with asyncio.timeout(5):
        assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=0, next=None)


async def test_a_step_waits_for_the_writers_of_a_channel_and_locks_channels_in_the_order_of_their_ids(
    storage: PgStorage, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    for id in ("é", "a", "B"):
        await written(storage, await storage.channels.create(creation(id)), lease)
    await obstacle.execute("SELECT FROM channels WHERE id = 'a' FOR NO KEY UPDATE")

    pruning = asyncio.create_task(storage.collaboration.prune(EVERYTHING, lease=lease))
    await watch.until_waiting()
    assert await watch.value(OPERATIONS) == 3
    assert await watch.rows("SELECT id FROM channels FOR NO KEY UPDATE SKIP LOCKED") == [("é",)]
    await obstacle.rollback()

    assert await pruning == Pruned(operations=3, next=None)


async def test_a_step_under_another_lease_waits_for_a_commit_to_the_channel(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await written(storage, channel, lease)
    other = await storage.leases.acquire("other", "tests", timedelta(minutes=1))
    assert other is not None
    await obstacle.execute("LOCK TABLE channel_state")  # a commit gets as far as this, with its channel locked
    made = commit(channel, expected=1, operation_id=OperationId("second"))
    committing = asyncio.create_task(storage.collaboration.commit(made, lease=lease))
    await watch.until_waiting()

    pruning = asyncio.create_task(storage.collaboration.prune(EVERYTHING, lease=other))
    await watch.until_waiting(2)
    await obstacle.rollback()

    assert (await committing).revision == 2
    assert await pruning == Pruned(operations=1, next=None)
    assert await storage.collaboration.operation(channel.id, made.operation_id)


async def test_a_lease_that_ran_out_while_a_step_waited_takes_nothing(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await written(storage, channel, lease)
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    pruning = asyncio.create_task(storage.collaboration.prune(EVERYTHING, lease=lease))
    await watch.until_waiting()
    await watch.run("UPDATE storage_leases SET expires_at = clock_timestamp()")
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await pruning
    assert (await watch.value(OPERATIONS), await watch.value(EVENTS)) == (1, 1)


async def test_a_takeover_waits_for_a_step_in_flight_and_a_renewal_does_not(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await written(storage, channel, lease)
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    pruning = asyncio.create_task(storage.collaboration.prune(EVERYTHING, lease=lease))
    await watch.until_waiting()
    async with asyncio.timeout(2):
        assert await storage.leases.renew(lease, timedelta(milliseconds=1))
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases")
    taking = asyncio.create_task(storage.leases.acquire(lease.name, "successor", timedelta(minutes=1)))
    await watch.until_waiting(2)
    assert not taking.done()
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await pruning
    taken = await taking
    assert taken is not None
    assert taken.fencing == lease.fencing + 1
    assert await watch.value(OPERATIONS) == 1


async def test_what_another_step_took_meanwhile_is_counted_once(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await written(storage, channel, lease)
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    pruning = [asyncio.create_task(storage.collaboration.prune(EVERYTHING, lease=lease)) for _ in range(2)]
    await watch.until_waiting(2)
    await obstacle.rollback()

    assert sorted([(await step).operations for step in pruning]) == [0, 1]


async def test_one_that_looks_old_stays_while_one_before_it_is_young(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch
) -> None:
    # A clock that was set back leaves such rows.
    await watch.run(
        f"INSERT INTO channel_operations SELECT '{channel.id}', n, n, n, clock_timestamp() - interval '1 day'"
        " * CASE n WHEN 3 THEN 1 ELSE 9 END FROM generate_series(1, 5) AS n"
    )

    step = Pruning(older_than=timedelta(days=5), limit=100)
    assert await storage.collaboration.prune(step, lease=lease) == Pruned(operations=2, next=None)
    assert await watch.rows("SELECT sequence FROM channel_operations ORDER BY sequence") == [(3,), (4,), (5,)]


async def test_a_channel_that_was_deleted_and_made_anew_while_a_step_waited_loses_nothing(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await written(storage, channel, lease)
    await watch.run("UPDATE channel_operations SET kept_at = kept_at - interval '9 days'")
    # What the deletion and the new beginning leave, on one row that the step waits for.
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    pruning = asyncio.create_task(storage.collaboration.prune(Pruning(older_than=timedelta(days=5), limit=9), lease=lease))
    await watch.until_waiting()
    await obstacle.execute("UPDATE channel_operations SET kept_at = clock_timestamp()")
    await obstacle.commit()

    assert await pruning == Pruned(operations=0, next=None)
    assert (await watch.value(OPERATIONS), await watch.value(EVENTS)) == (1, 1)
