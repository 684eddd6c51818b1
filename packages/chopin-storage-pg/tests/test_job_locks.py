"""What a write of jobs waits for, and that the lease is judged after the wait and not before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeAlias

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import ChannelArchived, ChannelMissing, ClaimLost, JobMissing, JobMoved, LeaseLost
from chopin_core.jobs.job import Job
from chopin_core.jobs.progress import ProgressState, Step
from chopin_core.ports.leases import Lease
from chopin_storage_pg.locks import JOB_LOCK, LEASE_LOCKS
from chopin_storage_pg.storage import PgStorage

from made import NOW, commit, creation
from stores import MINUTE, request, running
from watch import Session, Watch

LATER = NOW + timedelta(seconds=5)
SOON = 0.3

Write: TypeAlias = Callable[[PgStorage, Job, Lease], Coroutine[Any, Any, object]]


async def enqueues(storage: PgStorage, job: Job, lease: Lease) -> object:
    channel = await storage.channels.get(job.channel_id)
    assert channel is not None
    return await storage.jobs.enqueue(request(channel, "later", target_key=job.target_key), lease=lease)


async def claims(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.claim(owner="other", count=9, ttl=MINUTE, now=NOW + MINUTE, lease=lease)


async def renews(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.renew(job.token, ttl=MINUTE, binding=1, expected=job.revision, now=LATER, lease=lease)


async def progresses(storage: PgStorage, job: Job, lease: Lease) -> object:
    step = Step(stage="s", label="l", state=ProgressState.STARTED)
    return await storage.jobs.progress(job.token, step, now=LATER, lease=lease)


async def requeues(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.requeue(job.token, available_at=NOW, count_failure=True, now=LATER, lease=lease)


async def settles(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.settle(job.token, "done", now=LATER, lease=lease)


async def fails(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.fail(job.token, reason="r", now=LATER, lease=lease)


async def pauses(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.pause(job.channel_id, job.id, reason="r", expected=job.revision, now=LATER, lease=lease)


async def cancels(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.cancel(job.channel_id, job.id, now=LATER, lease=lease)


async def supersedes(storage: PgStorage, job: Job, lease: Lease) -> object:
    return await storage.jobs.supersede(job.channel_id, job.id, expected=job.revision, now=LATER, lease=lease)


@pytest.fixture(params=[enqueues, claims, renews, progresses, requeues, settles, fails, pauses, cancels, supersedes])
def write(request: pytest.FixtureRequest) -> Write:
    """Each of the writes of jobs, save resuming, which takes the way of pausing."""
    guarded: Write = request.param
    return guarded


@pytest.fixture
async def job(storage: PgStorage, channel: Channel, lease: Lease) -> Job:
    return await running(storage, channel, lease)


async def brief(storage: PgStorage) -> Lease:
    lease = await storage.leases.acquire("brief", "tests", timedelta(seconds=SOON))
    assert lease is not None
    return lease


async def until_expired(watch: Watch, lease: Lease) -> None:
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases WHERE name = %s", lease.name)


async def refused_after_the_wait(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch, lease: Lease
) -> None:
    """A write that waits for the obstacle while its lease expires is refused, and nothing of it is kept."""
    before = await storage.jobs.get(job.channel_id, job.id)
    writing = asyncio.create_task(write(storage, job, lease))
    await watch.until_waiting()
    await until_expired(watch, lease)
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await writing
    assert await storage.jobs.get(job.channel_id, job.id) == before
    assert await watch.value("SELECT count(*) FROM background_jobs") == 1


async def test_the_lease_is_judged_after_the_wait_for_other_writes_under_it(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch
) -> None:
    lease = await brief(storage)
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))

    await refused_after_the_wait(storage, job, write, obstacle, watch, lease)


async def test_the_lease_is_judged_after_the_wait_for_other_writes_of_jobs(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s)", (JOB_LOCK,))

    await refused_after_the_wait(storage, job, write, obstacle, watch, await brief(storage))


async def test_the_lease_is_judged_after_the_wait_for_the_channel(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")

    await refused_after_the_wait(storage, job, write, obstacle, watch, await brief(storage))


async def test_the_lease_is_judged_after_the_wait_for_whoever_reads_the_job_in_order_to_write(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM background_jobs FOR UPDATE")

    await refused_after_the_wait(storage, job, write, obstacle, watch, await brief(storage))


async def test_writes_of_jobs_run_one_at_a_time_under_whatever_lease(
    storage: PgStorage, channel: Channel, job: Job, write: Write, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    other = await storage.leases.acquire("other", "tests", MINUTE)
    assert other is not None
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s)", (JOB_LOCK,))
    writing = asyncio.create_task(write(storage, job, lease))
    await watch.until_waiting()

    async with asyncio.timeout(5):  # what is no job need not wait for one, nor need whoever only looks
        await storage.collaboration.commit(commit(channel), lease=other)
        assert await storage.jobs.list(channel.id) is not None
        assert await storage.leases.renew(lease, MINUTE) is not None

    assert not writing.done()
    await obstacle.rollback()
    await writing


async def test_a_takeover_waits_for_a_write_of_jobs_in_flight(
    storage: PgStorage, job: Job, write: Write, obstacle: Session, watch: Watch
) -> None:
    lease = await brief(storage)
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    writing = asyncio.create_task(write(storage, job, lease))
    await watch.until_waiting()
    await until_expired(watch, lease)

    taking = asyncio.create_task(storage.leases.acquire(lease.name, "successor", MINUTE))
    await watch.until_waiting(2)
    assert not taking.done()
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await writing
    taken = await taking
    assert taken is not None
    assert taken.fencing == lease.fencing + 1


async def test_a_write_that_waited_for_the_deletion_of_the_channel_finds_nothing(
    storage: PgStorage, channel: Channel, job: Job, write: Write, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    writing = asyncio.create_task(write(storage, job, lease))
    await watch.until_waiting()
    await obstacle.execute("DELETE FROM channels")
    await obstacle.commit()

    if write is claims:
        assert await writing == ()
    else:
        with pytest.raises((ChannelMissing, JobMissing)):
            await writing
    assert await watch.value("SELECT count(*) FROM background_job_channels") == 0


async def test_a_deletion_waits_for_a_write_of_jobs_in_flight_and_neither_waits_in_a_circle(
    storage: PgStorage, channel: Channel, job: Job, write: Write, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await storage.jobs.enqueue(request(channel, "bystander"), lease=lease)
    await obstacle.execute("SELECT FROM background_jobs FOR UPDATE")
    writing = asyncio.create_task(write(storage, job, lease))
    await watch.until_waiting()
    deleting = asyncio.create_task(gone(watch, channel))
    await asyncio.sleep(0.05)
    await obstacle.rollback()

    await writing
    await deleting
    assert await storage.channels.get(channel.id) is None


async def gone(watch: Watch, channel: Channel) -> None:
    await watch.session.execute("DELETE FROM channels WHERE id = %s", (channel.id,))


async def test_a_cancellation_that_waited_for_the_archive_is_refused(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("UPDATE channels SET archived_at = updated_at")
    cancelling = asyncio.create_task(cancels(storage, job, lease))
    await watch.until_waiting()
    await obstacle.commit()

    with pytest.raises(ChannelArchived):
        await cancelling


async def test_two_channels_do_not_wait_for_each_others_deletion(
    storage: PgStorage, channel: Channel, job: Job, lease: Lease, obstacle: Session
) -> None:
    other = await storage.channels.create(creation("two"))
    await obstacle.execute("SELECT FROM channels WHERE id = %s FOR UPDATE", (channel.id,))
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.jobs.enqueue(request(other, "there"), lease=lease),
        lambda: storage.jobs.claim(owner="o", count=9, ttl=MINUTE, now=NOW, lease=lease, channel_id=other.id),
    ]

    async with asyncio.timeout(5):
        for call in calls:
            await call()


async def test_a_job_of_an_earlier_generation_is_out_of_reach_whatever_its_state_says(
    storage: PgStorage, channel: Channel, job: Job, write: Write, lease: Lease, watch: Watch
) -> None:
    await watch.run("UPDATE background_job_targets SET generation = generation + 1")

    if write is claims:
        assert await write(storage, job, lease) == ()
    elif write is not enqueues:
        with pytest.raises((ClaimLost, JobMoved)):
            await write(storage, job, lease)
        assert await watch.value("SELECT revision FROM background_job_channels") == job.revision
