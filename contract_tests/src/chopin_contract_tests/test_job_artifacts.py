from __future__ import annotations

import asyncio

import pytest

from chopin_contract_tests.builders import T0, at
from chopin_contract_tests.builders_jobs import claimed, enqueued, request
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel
from chopin_core.jobs.job import JobState
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_whoever_reads_while_a_job_is_settled_sees_it_running_or_completed_with_its_artifact(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease
) -> None:
    other = await connect()
    for number in range(1, 9):
        await enqueued(storage, request(channel, number), lease)
        job = await claimed(storage, channel, lease, now=T0)
        settling = asyncio.create_task(storage.jobs.settle(job.token, {"found": number}, now=at(1), lease=lease))

        while True:
            seen = await other.jobs.get(channel.id, job.id)
            assert seen is not None
            completed = seen.job.state is JobState.COMPLETED
            assert (seen.artifact is not None) is completed
            if completed:
                break
        await settling
