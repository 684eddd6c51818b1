"""No job moves without a lease that is held at that moment, and a lost lease is told before anything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at
from chopin_contract_tests.builders_jobs import MINUTE, claimed, enqueued, later, request, seen, step
from chopin_core.channel import Channel
from chopin_core.counters import FencingToken
from chopin_core.errors import LeaseLost
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Job
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")

Write: TypeAlias = Callable[[Storage, Channel, Job, Lease], Awaitable[object]]
"""A write that concerns a running job of the channel."""


async def enqueues(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.enqueue(request(channel, 2, target_key=job.target_key), lease=lease)


async def claims(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.claim(owner="other", count=9, ttl=MINUTE, now=at(60), lease=lease)


async def renews(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.renew(job.token, ttl=2 * MINUTE, binding=1, expected=job.revision, now=at(5), lease=lease)


async def progresses(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.progress(job.token, step(), now=at(5), lease=lease)


async def requeues(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.requeue(job.token, available_at=T0, count_failure=True, now=at(5), lease=lease)


async def settles(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.settle(job.token, "done", now=at(5), lease=lease)


async def fails(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.fail(job.token, reason="broken", now=at(5), lease=lease)


async def pauses(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.pause(channel.id, job.id, reason="wait", expected=job.revision, now=at(5), lease=lease)


async def resumes(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.resume(channel.id, job.id, available_at=T0, expected=job.revision, now=at(5), lease=lease)


async def cancels(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.cancel(channel.id, job.id, now=at(5), lease=lease)


async def supersedes(storage: Storage, channel: Channel, job: Job, lease: Lease) -> None:
    await storage.jobs.supersede(channel.id, job.id, expected=job.revision, now=at(5), lease=lease)


WRITES = [enqueues, claims, renews, progresses, requeues, settles, fails, pauses, resumes, cancels, supersedes]


@pytest.fixture(params=WRITES)
def write(request: pytest.FixtureRequest) -> Write:
    """Each of the writes that a lease guards."""
    guarded: Write = request.param
    return guarded


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """Claimed for a minute."""
    await enqueued(storage, request(channel), lease)
    return await claimed(storage, channel, lease)


async def ready(storage: Storage, job: Job, write: Write, lease: Lease) -> Job:
    """The job in a state that the write applies to."""
    if write is resumes:
        return await storage.jobs.pause(job.channel_id, job.id, reason="wait", expected=job.revision, now=at(1), lease=lease)
    return job


async def granted(storage: Storage, name: str) -> Lease:
    lease = await storage.leases.acquire(name, "suite", timedelta(minutes=10))
    assert lease is not None
    return lease


async def test_a_write_raises_the_counter_by_one(
    storage: Storage, channel: Channel, lease: Lease, job: Job, write: Write
) -> None:
    before = await ready(storage, job, write, lease)

    await write(storage, channel, before, lease)

    page = await storage.jobs.list(channel.id)
    assert page is not None
    assert page.revision == before.revision + 1
    assert {one.revision for one in page.jobs} == {page.revision}


async def test_a_lease_of_any_name_will_do(storage: Storage, channel: Channel, lease: Lease, job: Job, write: Write) -> None:
    before = await ready(storage, job, write, lease)
    everything = await seen(storage, channel)

    await write(storage, channel, before, await granted(storage, "something else"))

    assert await seen(storage, channel) != everything


async def test_a_lease_that_is_not_held_is_refused_and_nothing_changes(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job, write: Write
) -> None:
    before = await ready(storage, job, write, lease)
    everything = await seen(storage, channel)
    released = await granted(storage, "released")
    await storage.leases.release(released)

    for lost in (
        expired,
        attrs.evolve(expired, expires_at=lease.expires_at),
        released,
        attrs.evolve(lease, owner="somebody"),
        attrs.evolve(lease, name="invented"),
        attrs.evolve(lease, fencing=FencingToken(lease.fencing + 1)),
    ):
        with pytest.raises(LeaseLost) as caught:
            await write(storage, channel, before, lost)
        assert (caught.value.name, caught.value.fencing) == (lost.name, lost.fencing)
    assert await seen(storage, channel) == everything


async def test_a_lost_lease_is_told_before_anything_that_is_wrong_with_the_job(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job, write: Write
) -> None:
    unknown = attrs.evolve(channel, id=ChannelId("unknown"))
    for place, named in (
        (unknown, attrs.evolve(job, channel_id=unknown.id)),
        (channel, attrs.evolve(job, id=JobId("unknown"))),
        (channel, later(job, 7, claim_generation=9, target_key="other")),
    ):
        with pytest.raises(LeaseLost):
            await write(storage, place, named, expired)

    await storage.channels.archive(channel.id, now=at(1))
    with pytest.raises(LeaseLost):
        await write(storage, channel, job, expired)


async def test_a_repeat_under_a_lost_lease_is_no_repeat(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job
) -> None:
    for made in (request(channel), request(channel, fingerprint="other")):
        with pytest.raises(LeaseLost):
            await storage.jobs.enqueue(made, lease=expired)
