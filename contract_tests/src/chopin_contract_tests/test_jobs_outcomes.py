"""A worker completes a job together with its artifact, or fails it with a reason."""

from __future__ import annotations

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at
from chopin_contract_tests.builders_jobs import claimed, enqueued, later, request
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.test_jobs_work import detail
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import JobChannelRevision
from chopin_core.jobs.job import Job, JobState
from chopin_core.jsonvalue import Json
from chopin_core.ports.jobs import Artifact, JobDetail
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """Claimed by ``worker`` for a minute, at revision 2."""
    await enqueued(storage, request(channel), lease)
    return await claimed(storage, channel, lease)


# Completed


async def test_a_job_is_completed_together_with_its_artifact(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, job: Job
) -> None:
    await enqueued(storage, request(channel, 2), lease)

    settled = await storage.jobs.settle(job.token, {"text": "done"}, now=at(5), lease=lease)

    revision = JobChannelRevision(4)
    assert settled == JobDetail(
        revision=revision,
        job=attrs.evolve(job, state=JobState.COMPLETED, revision=revision, claim=None, updated_at=at(5)),
        current=True,
        artifact=Artifact(job_id=job.id, revision=revision, value={"text": "done"}, created_at=at(5)),
    )
    assert await detail(await connect(), job) == settled


@pytest.mark.parametrize("text", [*STORABLE.values(), *UNSTORABLE.values()], ids=[*STORABLE, *UNSTORABLE])
async def test_an_artifact_of_any_text_survives(storage: Storage, channel: Channel, lease: Lease, job: Job, text: str) -> None:
    value: Json = {text: [text, {"deep": text}]}

    settled = await storage.jobs.settle(job.token, value, now=at(5), lease=lease)

    assert settled.artifact is not None
    assert settled.artifact.value == value
    assert await detail(storage, job) == settled


@pytest.mark.parametrize("value", ["a string", "", None, 0, False, [], {}], ids=repr)
async def test_an_artifact_need_not_be_an_object(
    storage: Storage, channel: Channel, lease: Lease, job: Job, value: Json
) -> None:
    await storage.jobs.settle(job.token, value, now=at(5), lease=lease)

    artifact = (await detail(storage, job)).artifact
    assert artifact is not None
    assert artifact.value == value


async def test_an_artifact_is_a_copy(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    inner: list[Json] = [1]
    await storage.jobs.settle(job.token, {"inner": inner}, now=at(5), lease=lease)
    inner.append(2)

    for _ in range(2):
        artifact = (await detail(storage, job)).artifact
        assert artifact is not None
        assert artifact.value == {"inner": [1]}
        assert isinstance(artifact.value, dict)
        artifact.value["inner"] = "changed"


# Failed


async def test_a_failed_job_has_its_reason_one_more_failure_and_no_artifact(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    await storage.jobs.requeue(job.token, available_at=T0, count_failure=True, now=at(1), lease=lease)
    again = await claimed(storage, channel, lease, now=at(2))

    failed = await storage.jobs.fail(again.token, reason="broken", now=at(5), lease=lease)

    assert failed == later(again, state=JobState.FAILED, failures=2, claim=None, reason="broken", updated_at=at(5))
    assert await detail(storage, job) == JobDetail(revision=failed.revision, job=failed, current=True, artifact=None)
