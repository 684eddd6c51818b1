"""Whoever controls a job may hold it back, let it go on, or end it; what has ended stays as it ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at, creation
from chopin_contract_tests.builders_jobs import MINUTE, MOMENT, claimed, enqueued, later, request, seen, step
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import JobChannelRevision
from chopin_core.errors import (
    ChannelArchived,
    ChannelMissing,
    ClaimLost,
    InvalidField,
    JobMissing,
    JobMoved,
    StaleJob,
)
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Job, JobState
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")

Control: TypeAlias = Callable[[Storage, Job, datetime, Lease], Awaitable[Job]]


async def pauses(storage: Storage, job: Job, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.pause(job.channel_id, job.id, reason="wait", expected=job.revision, now=now, lease=lease)


async def resumes(storage: Storage, job: Job, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.resume(job.channel_id, job.id, available_at=at(300), expected=job.revision, now=now, lease=lease)


async def supersedes(storage: Storage, job: Job, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.supersede(job.channel_id, job.id, expected=job.revision, now=now, lease=lease)


async def cancels(storage: Storage, job: Job, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.cancel(job.channel_id, job.id, now=now, lease=lease)


CONTROLS = [pauses, resumes, supersedes, cancels]
EXPECTING = CONTROLS[:3]
OPEN = [JobState.PENDING, JobState.PAUSED, JobState.RUNNING]
ENDED = [JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED, JobState.SUPERSEDED]
FROM: dict[Control, set[JobState]] = {
    pauses: {JobState.PENDING, JobState.RUNNING},
    resumes: {JobState.PAUSED},
    supersedes: set(OPEN),
    cancels: set(OPEN),
}
"""From which states each leads."""


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """Waiting, at revision 1."""
    return await enqueued(storage, request(channel), lease)


async def brought(storage: Storage, channel: Channel, job: Job, state: JobState, lease: Lease) -> Job:
    """The waiting job, brought into a state; it has had an attempt, a failure and progress where that is possible."""
    if state is JobState.PENDING:
        return job
    first = await claimed(storage, channel, lease)
    await storage.jobs.progress(first.token, step(), now=at(1), lease=lease)
    await storage.jobs.requeue(first.token, available_at=T0, count_failure=True, now=at(1), lease=lease)
    running = await claimed(storage, channel, lease, now=at(2))
    match state:
        case JobState.COMPLETED:
            return (await storage.jobs.settle(running.token, "done", now=at(3), lease=lease)).job
        case JobState.FAILED:
            return await storage.jobs.fail(running.token, reason="broken", now=at(3), lease=lease)
        case JobState.PAUSED:
            return await pauses(storage, running, at(3), lease)
        case JobState.CANCELLED:
            return await storage.jobs.cancel(channel.id, job.id, reason="enough", now=at(3), lease=lease)
        case JobState.SUPERSEDED:
            return await supersedes(storage, running, at(3), lease)
    return running


async def stored(storage: Storage, job: Job) -> Job:
    found = await storage.jobs.get(job.channel_id, job.id)
    assert found is not None
    return found.job


# From state to state


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.RUNNING])
async def test_a_paused_job_is_held_back_and_a_claim_on_it_ends(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, job: Job, state: JobState
) -> None:
    before = await brought(storage, channel, job, state, lease)

    paused = await storage.jobs.pause(channel.id, job.id, reason="wait", expected=before.revision, now=at(5), lease=lease)

    assert paused == later(before, state=JobState.PAUSED, claim=None, reason="wait", updated_at=at(5))
    assert await stored(await connect(), job) == paused
    assert await storage.jobs.claim(owner="w", count=1, ttl=MINUTE, now=at(9999), lease=lease) == ()
    if state is JobState.RUNNING:
        with pytest.raises(ClaimLost):
            await storage.jobs.settle(before.token, 1, now=at(6), lease=lease)


async def test_a_resumed_job_may_be_claimed_again_from_then_on(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, job: Job
) -> None:
    paused = await brought(storage, channel, job, JobState.PAUSED, lease)

    resumed = await storage.jobs.resume(
        channel.id, job.id, available_at=at(300), expected=paused.revision, now=at(5), lease=lease
    )

    assert resumed == later(paused, state=JobState.PENDING, available_at=at(300), reason=None, updated_at=at(5))
    assert await stored(await connect(), job) == resumed
    assert await storage.jobs.claim(owner="w", count=1, ttl=MINUTE, now=at(300) - MOMENT, lease=lease) == ()
    again = await claimed(storage, channel, lease, now=at(300))
    assert (again.attempts, again.claim_generation) == (paused.attempts + 1, paused.claim_generation + 1)


@pytest.mark.parametrize("reason", ["enough", None])
@pytest.mark.parametrize("state", OPEN)
@pytest.mark.parametrize("end", [JobState.CANCELLED, JobState.SUPERSEDED])
async def test_an_unfinished_job_may_be_ended(
    storage: Storage, channel: Channel, lease: Lease, job: Job, state: JobState, end: JobState, reason: str | None
) -> None:
    before = await brought(storage, channel, job, state, lease)

    if end is JobState.CANCELLED:
        ended = await storage.jobs.cancel(channel.id, job.id, reason=reason, now=at(5), lease=lease)
    else:
        ended = await storage.jobs.supersede(
            channel.id, job.id, reason=reason, expected=before.revision, now=at(5), lease=lease
        )

    assert ended == later(before, state=end, claim=None, reason=reason, updated_at=at(5))
    detail = await storage.jobs.get(channel.id, job.id)
    assert detail is not None
    assert (detail.job, detail.revision, detail.artifact) == (ended, ended.revision, None)
    assert await storage.jobs.claim(owner="w", count=1, ttl=MINUTE, now=at(9999), lease=lease) == ()


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("state", JobState)
async def test_a_state_that_does_not_allow_it_is_refused_and_nothing_changes(
    storage: Storage, channel: Channel, lease: Lease, job: Job, state: JobState, control: Control
) -> None:
    before = await brought(storage, channel, job, state, lease)
    everything = await seen(storage, channel)

    if state in FROM[control]:
        assert (await control(storage, before, at(5), lease)).revision == before.revision + 1
        return
    for drift in (0, 1):
        named = attrs.evolve(before, revision=JobChannelRevision(before.revision + drift))
        with pytest.raises(JobMoved) as caught:
            await control(storage, named, at(5), lease)
        assert (caught.value.job_id, caught.value.state) == (job.id, state.value)
    assert await seen(storage, channel) == everything


@pytest.mark.parametrize("state", ENDED)
async def test_no_worker_gets_at_a_job_that_has_ended(
    storage: Storage, channel: Channel, lease: Lease, job: Job, state: JobState
) -> None:
    running = await claimed(storage, channel, lease)
    token = running.token
    match state:
        case JobState.COMPLETED:
            await storage.jobs.settle(token, 1, now=at(1), lease=lease)
        case JobState.FAILED:
            await storage.jobs.fail(token, reason="broken", now=at(1), lease=lease)
        case JobState.CANCELLED:
            await cancels(storage, running, at(1), lease)
        case _:
            await supersedes(storage, running, at(1), lease)
    before = await seen(storage, channel)

    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: storage.jobs.renew(token, ttl=2 * MINUTE, binding=1, expected=running.revision, now=at(2), lease=lease),
        lambda: storage.jobs.progress(token, step(), now=at(2), lease=lease),
        lambda: storage.jobs.requeue(token, available_at=T0, count_failure=True, now=at(2), lease=lease),
        lambda: storage.jobs.settle(token, 2, now=at(2), lease=lease),
        lambda: storage.jobs.fail(token, reason="late", now=at(2), lease=lease),
    ]
    for call in calls:
        with pytest.raises(ClaimLost):
            await call()
    assert await storage.jobs.claim(owner="w", count=1, ttl=MINUTE, now=at(9999), lease=lease) == ()
    assert await seen(storage, channel) == before


async def test_attempts_failures_and_progress_only_grow(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    paused = await brought(storage, channel, job, JobState.PAUSED, lease)
    assert (paused.attempts, paused.failures, paused.claim_generation, len(paused.progress)) == (2, 1, 2, 1)

    await resumes(storage, paused, at(5), lease)
    again = await claimed(storage, channel, lease, now=at(300))
    ended = await cancels(storage, again, at(301), lease)

    assert (ended.attempts, ended.failures, ended.claim_generation) == (3, 1, 3)
    assert ended.progress == paused.progress


# Refused


@pytest.mark.parametrize("control", CONTROLS)
async def test_a_job_that_the_channel_has_not_is_missing(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control
) -> None:
    other = await storage.channels.create(creation("channel-2"))
    before = [await seen(storage, place) for place in (channel, other)]

    for changes in ({"id": JobId("unknown")}, {"channel_id": other.id}):
        named = attrs.evolve(job, **changes)
        with pytest.raises(JobMissing) as caught:
            await control(storage, named, at(5), lease)
        assert caught.value.job_id == named.id
    assert [await seen(storage, place) for place in (channel, other)] == before


@pytest.mark.parametrize("control", CONTROLS)
async def test_in_an_unknown_channel_nothing_can_be_controlled(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control
) -> None:
    unknown = attrs.evolve(job, channel_id=ChannelId("unknown"))

    with pytest.raises(ChannelMissing if control is cancels else JobMissing):
        await control(storage, unknown, at(5), lease)


@pytest.mark.parametrize("drift", [-1, 1])
@pytest.mark.parametrize("control", EXPECTING)
async def test_a_job_at_another_revision_is_stale(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control, drift: int
) -> None:
    if control is resumes:
        job = await pauses(storage, job, at(1), lease)
    before = await seen(storage, channel)
    expected = JobChannelRevision(job.revision + drift)

    with pytest.raises(StaleJob) as caught:
        await control(storage, attrs.evolve(job, revision=expected), at(5), lease)

    assert (caught.value.job_id, caught.value.expected, caught.value.actual) == (job.id, expected, job.revision)
    assert await seen(storage, channel) == before


async def test_other_jobs_of_the_channel_make_no_job_stale(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    other = await enqueued(storage, request(channel, 2), lease)

    paused = await pauses(storage, job, at(5), lease)

    assert paused.revision == other.revision + 1
    assert await stored(storage, other) == other


@pytest.mark.parametrize("control", CONTROLS)
async def test_a_job_whose_target_was_taken_over_has_moved(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control
) -> None:
    await enqueued(storage, request(channel, 2, target_key=job.target_key), lease)
    before = await seen(storage, channel)

    with pytest.raises(JobMoved) as caught:
        await control(storage, await stored(storage, job), at(5), lease)

    assert (caught.value.job_id, caught.value.state) == (job.id, "superseded")
    assert await seen(storage, channel) == before


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_a_reason_that_no_column_can_keep_is_refused_before_the_lease(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job, text: str
) -> None:
    before = await seen(storage, channel)

    for guard in (lease, expired):
        calls: list[Callable[[Lease], Awaitable[object]]] = [
            lambda guard: storage.jobs.pause(channel.id, job.id, reason=text, expected=job.revision, now=at(5), lease=guard),
            lambda guard: storage.jobs.cancel(channel.id, job.id, reason=text, now=at(5), lease=guard),
            lambda guard: storage.jobs.supersede(
                channel.id, job.id, reason=text, expected=job.revision, now=at(5), lease=guard
            ),
        ]
        for call in calls:
            with pytest.raises(InvalidField) as caught:
                await call(guard)
            assert caught.value.field == "reason"
    assert await seen(storage, channel) == before


@pytest.mark.parametrize("control", CONTROLS)
async def test_what_no_column_could_name_is_missing(
    storage: Storage, channel: Channel, lease: Lease, job: Job, control: Control
) -> None:
    for text in UNSTORABLE.values():
        with pytest.raises(JobMissing):
            await control(storage, attrs.evolve(job, id=JobId(text)), at(5), lease)
        with pytest.raises(ChannelMissing if control is cancels else JobMissing):
            await control(storage, attrs.evolve(job, channel_id=ChannelId(text)), at(5), lease)


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_reason_of_any_text_a_column_can_keep_comes_back_exactly(
    storage: Storage, channel: Channel, lease: Lease, job: Job, text: str
) -> None:
    paused = await storage.jobs.pause(channel.id, job.id, reason=text, expected=job.revision, now=at(1), lease=lease)
    cancelled = await storage.jobs.cancel(channel.id, job.id, reason=text + "!", now=at(2), lease=lease)

    assert (paused.reason, cancelled.reason) == (text, text + "!")
    assert await stored(storage, job) == cancelled


# At once


async def test_of_eight_that_control_one_revision_one_does(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    for turn in range(5):
        job = await enqueued(sides[0], request(channel, turn), lease)

        raced = await race(
            *((pauses, supersedes)[number % 2](side, job, at(number), lease) for number, side in enumerate(sides))
        )

        [moved] = raced.won
        assert len(raced.refused) == WRITERS - 1
        assert raced.refusals() <= {
            (StaleJob, (job.id, job.revision, moved.revision)),
            (JobMoved, (job.id, moved.state.value)),
        }
        assert await stored(sides[0], job) == moved
        assert moved.revision == job.revision + 1


async def test_a_cancellation_and_an_archive_at_once_agree_on_who_was_first(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    for turn in range(5):
        place = await sides[0].channels.create(creation(f"channel of {turn}"))
        jobs = [await enqueued(sides[0], request(place, 10 * turn + number), lease) for number in range(1, WRITERS)]

        async def attempt(number: int, side: Storage, place: Channel = place, jobs: list[Job] = jobs) -> object:
            if number == 0:
                return await side.channels.archive(place.id, now=at(1))
            return await cancels(side, jobs[number - 1], at(2), lease)

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert raced.refusals() <= {(ChannelArchived, (place.id,))}
        states = [(await stored(sides[0], job)).state for job in jobs]
        assert states.count(JobState.CANCELLED) == len(raced.won) - 1
