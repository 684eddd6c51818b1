"""In an archived channel jobs are controlled as elsewhere, save that a cancellation has to be allowed."""

from __future__ import annotations

import pytest
import pytest_asyncio

from chopin_contract_tests.builders import at
from chopin_contract_tests.builders_jobs import enqueued, request, seen
from chopin_contract_tests.test_jobs_control import EXPECTING, Control, cancels, pauses, resumes, stored
from chopin_core.channel import Channel
from chopin_core.errors import (
    ChannelArchived,
    JobMissing,
)
from chopin_core.ids import JobId
from chopin_core.jobs.job import Job, JobState
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """Waiting, at revision 1."""
    return await enqueued(storage, request(channel), lease)


async def test_only_an_allowed_cancellation_reaches_the_archive(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    await storage.channels.archive(channel.id, now=at(1))
    before = await seen(storage, channel)

    for job_id in (job.id, JobId("unknown")):
        with pytest.raises(ChannelArchived) as caught:
            await storage.jobs.cancel(channel.id, job_id, now=at(5), lease=lease)
        assert caught.value.channel_id == channel.id
    with pytest.raises(JobMissing):
        await storage.jobs.cancel(channel.id, JobId("unknown"), allow_archived=True, now=at(5), lease=lease)
    assert await seen(storage, channel) == before

    cancelled = await storage.jobs.cancel(channel.id, job.id, allow_archived=True, now=at(5), lease=lease)
    assert cancelled.state is JobState.CANCELLED
    with pytest.raises(ChannelArchived):
        await cancels(storage, job, at(6), lease)


async def test_an_allowance_is_not_needed_outside_the_archive(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    cancelled = await storage.jobs.cancel(channel.id, job.id, allow_archived=True, now=at(5), lease=lease)

    assert cancelled.state is JobState.CANCELLED


@pytest.mark.parametrize("control", EXPECTING)
async def test_other_control_goes_on_in_the_archive(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control
) -> None:
    if control is resumes:
        job = await pauses(storage, job, at(1), lease)
    archived = (await storage.channels.archive(channel.id, now=at(2))).channel

    assert await stored(storage, job) == job
    assert (await control(storage, job, at(5), lease)).revision == job.revision + 1
    assert await storage.channels.get(channel.id) == archived
