"""
Writes made again by somebody who does not know whether the first was kept (``Storage`` on ``OutcomeUnknown``): each is refused
by what the first did, or is answered as if it were the first, and what the caller needs to know can be read.

Here are those whose repeats no other module is about.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest
import pytest_asyncio

from chopin_contract_tests.builders import AUTHOR, T0, at, credentials, pairing, web_session
from chopin_contract_tests.builders_jobs import MINUTE, claimed, enqueued, request, seen, step
from chopin_core.channel import Channel
from chopin_core.counters import CredentialRevision
from chopin_core.errors import ChopinError, ClaimLost, JobMoved, MachineExists, SessionExists, StaleJob
from chopin_core.jobs.job import Job, JobState
from chopin_core.ports.leases import Lease
from chopin_core.ports.machines import MachineCredentials
from chopin_core.ports.storage import Storage

STORE = "storage"
pytestmark = pytest.mark.asyncio(loop_scope="function")

Move: TypeAlias = Callable[[Storage, Job, Lease], Awaitable[object]]


async def settles(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.settle(job.token, "done", now=at(2), lease=lease)


async def fails(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.fail(job.token, reason="no-luck", now=at(2), lease=lease)


async def gives_back(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.requeue(job.token, available_at=at(9), count_failure=True, now=at(2), lease=lease)


async def renews(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.renew(job.token, ttl=2 * MINUTE, binding="desk", expected=job.revision, now=at(2), lease=lease)


async def pauses(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.pause(job.channel_id, job.id, reason="wait", expected=job.revision, now=at(2), lease=lease)


async def cancels(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.cancel(job.channel_id, job.id, now=at(2), lease=lease)


async def supersedes(storage: Storage, job: Job, lease: Lease) -> object:
    return await storage.jobs.supersede(job.channel_id, job.id, expected=job.revision, now=at(2), lease=lease)


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """A job that a worker has."""
    await enqueued(storage, request(channel), lease)
    return await claimed(storage, channel, lease)


@pytest.mark.parametrize(
    ("move", "refusal", "state"),
    [
        (settles, ClaimLost, JobState.COMPLETED),
        (fails, ClaimLost, JobState.FAILED),
        (gives_back, ClaimLost, JobState.PENDING),
        (renews, StaleJob, JobState.RUNNING),
        (pauses, JobMoved, JobState.PAUSED),
        (cancels, JobMoved, JobState.CANCELLED),
        (supersedes, JobMoved, JobState.SUPERSEDED),
    ],
)
async def test_a_move_of_a_job_made_again_is_refused_by_what_it_did_and_changes_nothing(
    storage: Storage, channel: Channel, lease: Lease, job: Job, move: Move, refusal: type[ChopinError], state: JobState
) -> None:
    await move(storage, job, lease)
    after = await seen(storage, channel)

    with pytest.raises(refusal):
        await move(storage, job, lease)

    assert await seen(storage, channel) == after
    found = await storage.jobs.get(channel.id, job.id)
    assert found is not None
    assert found.job.state is state


async def test_resuming_made_again_is_refused_by_what_it_did_and_changes_nothing(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    paused = await storage.jobs.pause(channel.id, job.id, reason="wait", expected=job.revision, now=at(2), lease=lease)

    async def resumes() -> Job:
        return await storage.jobs.resume(
            channel.id, job.id, available_at=at(9), expected=paused.revision, now=at(3), lease=lease
        )

    resumed = await resumes()
    with pytest.raises(JobMoved):
        await resumes()

    found = await storage.jobs.get(channel.id, job.id)
    assert found is not None
    assert found.job == resumed


async def test_progress_told_again_stands_twice(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    for _ in range(2):
        told = await storage.jobs.progress(job.token, step(), now=at(2), lease=lease)

    assert [entry.step.stage for entry in told.progress] == ["reading", "reading"]


async def test_what_a_lost_claim_took_is_not_claimed_again_before_that_ends(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await enqueued(storage, request(channel), lease)
    lost = await claimed(storage, channel, lease, ttl=MINUTE)

    again = await storage.jobs.claim(owner="worker", count=9, ttl=MINUTE, now=at(1), lease=lease, channel_id=channel.id)
    assert again == ()

    later = await claimed(storage, channel, lease, now=T0 + MINUTE)
    assert (later.id, later.claim_generation) == (lost.id, lost.claim_generation + 1)


async def test_signing_in_again_is_refused_and_the_session_can_be_read(storage: Storage) -> None:
    session = web_session()
    await storage.sessions.create(session)

    with pytest.raises(SessionExists):
        await storage.sessions.create(session)
    assert await storage.sessions.get(session.id, now=T0) == session


async def test_rotating_again_is_not_done_and_the_credentials_can_be_read(storage: Storage) -> None:
    session = web_session()
    await storage.sessions.create(session)

    assert await storage.sessions.rotate(session.id, credentials(2))
    assert not await storage.sessions.rotate(session.id, credentials(2))

    found = await storage.sessions.get(session.id, now=T0)
    assert found is not None
    assert found.credentials == credentials(2)


async def test_pairing_again_is_refused_and_the_machine_can_be_read(storage: Storage) -> None:
    machine = await storage.machines.pair(pairing())

    with pytest.raises(MachineExists):
        await storage.machines.pair(pairing())
    assert await storage.machines.get(machine.id) == machine


async def test_rotating_a_machine_again_is_not_done_and_its_credentials_can_be_read(storage: Storage) -> None:
    machine = await storage.machines.pair(pairing(ciphertext=b"first"))
    fresh = MachineCredentials(ciphertext=b"second", revision=CredentialRevision(2))

    assert await storage.machines.rotate(machine.id, fresh)
    assert not await storage.machines.rotate(machine.id, fresh)

    found = await storage.machines.get(machine.id)
    assert found is not None
    assert found.credentials == fresh


async def test_authorizing_again_with_the_same_token_raises_the_revision_again(storage: Storage) -> None:
    machine = await storage.machines.pair(pairing())

    for revision in (1, 2):
        authorized = await storage.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=b"new", ciphertext=b"new")
        assert authorized.credentials == MachineCredentials(ciphertext=b"new", revision=CredentialRevision(revision))

    assert await storage.machines.find(b"new") == authorized


async def test_setting_the_same_document_again_moves_the_revision_again(storage: Storage, channel: Channel) -> None:
    first = await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=at(1))
    again = await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=at(1))

    assert (again.last_document, again.revision) == (channel.id, first.revision + 1)


async def test_moving_on_again_answers_the_present_which_is_what_the_first_wrote(storage: Storage, channel: Channel) -> None:
    moved = await storage.navigation.move_last_document(AUTHOR.id, channel.id, expected=None, now=at(1))
    again = await storage.navigation.move_last_document(AUTHOR.id, channel.id, expected=None, now=at(1))

    assert (again.updated, again.navigation) == (False, moved.navigation)
