"""Jobs are enqueued once for each idempotency key, the latest of a target supersedes the others, and all can be read."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from typing import Any

import attrs
import pytest

from chopin_contract_tests.builders import T0, at, commit, creation, initial, sidecar
from chopin_contract_tests.builders_jobs import claimed, enqueued, request, seen
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import JobChannelRevision, TargetGeneration
from chopin_core.errors import ChannelMissing, IdempotencyConflict, InvalidField, JobExists
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Job, JobOrigin, JobState
from chopin_core.jsonvalue import Json
from chopin_core.ports.jobs import Enqueued, JobCursor, JobDetail, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def page(storage: Storage, channel: Channel, limit: int = 50, after: JobCursor | None = None) -> JobPage:
    found = await storage.jobs.list(channel.id, limit=limit, after=after)
    assert found is not None
    return found


async def detail(storage: Storage, job: Job) -> JobDetail:
    found = await storage.jobs.get(job.channel_id, job.id)
    assert found is not None
    return found


def ids(jobs: JobPage) -> list[str]:
    return [job.id for job in jobs.jobs]


# Enqueued


@pytest.mark.parametrize("origin", JobOrigin)
async def test_a_new_job_waits_at_the_next_revision(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, origin: JobOrigin
) -> None:
    made = request(channel, origin=origin, version=3, available_at=at(60), now=at(1))

    answer = await storage.jobs.enqueue(made, lease=lease)

    assert answer == Enqueued(
        job=Job(
            id=made.id,
            channel_id=channel.id,
            type=made.type,
            version=3,
            target_key=made.target_key,
            target_generation=TargetGeneration(1),
            idempotency_key=made.idempotency_key,
            fingerprint=made.fingerprint,
            origin=origin,
            input={"number": 1},
            state=JobState.PENDING,
            revision=JobChannelRevision(1),
            available_at=at(60),
            created_at=at(1),
            updated_at=at(1),
        ),
        repeated=False,
    )
    other = await connect()
    assert await detail(other, answer.job) == JobDetail(
        revision=JobChannelRevision(1), job=answer.job, current=True, artifact=None
    )
    assert await page(other, channel) == JobPage(revision=JobChannelRevision(1), jobs=(answer.job,), next=None)


async def test_the_instants_of_a_job_come_back_in_utc(storage: Storage, channel: Channel, lease: Lease) -> None:
    zone = timezone(timedelta(hours=8))
    made = request(channel, now=at(1).astimezone(zone), available_at=at(2).astimezone(zone))

    for job in (await enqueued(storage, made, lease), (await page(storage, channel)).jobs[0]):
        assert [job.created_at, job.updated_at, job.available_at] == [at(1), at(1), at(2)]
        assert {job.created_at.tzinfo, job.updated_at.tzinfo, job.available_at.tzinfo} == {UTC}


async def test_each_channel_counts_its_own_jobs(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))

    for number, (place, revision) in enumerate(((channel, 1), (other, 1), (channel, 2), (other, 2), (channel, 3)), start=1):
        assert (await enqueued(storage, request(place, number), lease)).revision == revision
    assert (await page(storage, channel)).revision == 3
    assert (await page(storage, other)).revision == 2


async def test_an_unknown_channel_is_missing(storage: Storage, channel: Channel, lease: Lease) -> None:
    with pytest.raises(ChannelMissing) as caught:
        await storage.jobs.enqueue(request(channel, channel_id=ChannelId("unknown")), lease=lease)

    assert caught.value.channel_id == "unknown"
    assert await storage.jobs.list(ChannelId("unknown")) is None


async def test_an_archived_channel_takes_jobs(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(1))

    job = await enqueued(storage, request(channel), lease)

    assert await claimed(storage, channel, lease) == (await detail(storage, job)).job


async def test_jobs_move_neither_the_channel_nor_its_history(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    await storage.collaboration.commit(commit(channel, update=b"1", sidecar=sidecar(1)), lease=lease)
    before = await storage.collaboration.load(channel.id)

    await enqueued(storage, request(channel, 1, now=at(9)), lease)
    job = await claimed(storage, channel, lease, now=at(10))
    await storage.jobs.settle(job.token, {"done": True}, now=at(11), lease=lease)

    assert await storage.collaboration.load(channel.id) == before


# Once for each key


async def test_a_repeat_answers_the_job_as_it_is_now_and_changes_nothing(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease
) -> None:
    made = request(channel)
    await enqueued(storage, made, lease)
    job = await claimed(storage, channel, lease)
    before = await seen(storage, channel)

    repeat = attrs.evolve(
        made, id=JobId("another"), type="other", version=9, target_key="elsewhere", input=None, now=at(9), available_at=at(9)
    )
    for again in (made, repeat):
        assert await (await connect()).jobs.enqueue(again, lease=lease) == Enqueued(job=job, repeated=True)
    assert await seen(storage, channel) == before


async def test_a_key_of_another_request_is_refused(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel), lease)
    before = await seen(storage, channel)

    with pytest.raises(IdempotencyConflict) as caught:
        await storage.jobs.enqueue(request(channel, fingerprint="other"), lease=lease)

    assert caught.value.key == request(channel).idempotency_key
    assert await seen(storage, channel) == before


async def test_a_key_is_one_of_its_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    await enqueued(storage, request(channel), lease)

    made = request(other, id=JobId("another"), fingerprint="other")
    assert not (await storage.jobs.enqueue(made, lease=lease)).repeated


async def test_an_id_in_use_is_refused_in_every_channel_after_the_key(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    job = await enqueued(storage, request(channel), lease)
    before = [await seen(storage, place) for place in (channel, other)]

    for place in (channel, other):
        with pytest.raises(JobExists) as caught:
            await storage.jobs.enqueue(request(place, 2, id=job.id, target_key=job.target_key), lease=lease)
        assert caught.value.job_id == job.id
    with pytest.raises(IdempotencyConflict):
        await storage.jobs.enqueue(request(channel, fingerprint="other"), lease=lease)

    assert [await seen(storage, place) for place in (channel, other)] == before


async def test_a_repeat_is_answered_on_an_archived_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    job = await enqueued(storage, request(channel), lease)
    await storage.channels.archive(channel.id, now=at(1))

    assert await storage.jobs.enqueue(request(channel), lease=lease) == Enqueued(job=job, repeated=True)


# The latest of a target


async def test_a_later_job_supersedes_every_unfinished_one_of_its_target(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    target = {"target_key": "one"}
    paused = await enqueued(storage, request(channel, 1, **target), lease)
    await storage.jobs.pause(channel.id, paused.id, reason="wait", expected=paused.revision, now=at(1), lease=lease)
    bystander = await enqueued(storage, request(channel, 9), lease)

    running = await enqueued(storage, request(channel, 2, **target, now=at(2)), lease)
    assert (await detail(storage, paused)).job.state is JobState.SUPERSEDED
    [running] = [
        job
        for job in await storage.jobs.claim(owner="worker", count=9, ttl=timedelta(hours=1), now=at(2), lease=lease)
        if job.id == running.id
    ]

    last = await enqueued(storage, request(channel, 3, **target, now=at(3)), lease)

    assert last.target_generation == 3
    assert (await detail(storage, running)) == JobDetail(
        revision=last.revision,
        job=attrs.evolve(running, state=JobState.SUPERSEDED, claim=None, revision=last.revision, updated_at=at(3)),
        current=False,
        artifact=None,
    )
    assert (await detail(storage, last)).current
    assert (await detail(storage, bystander)).job.state is JobState.RUNNING


async def test_the_claim_and_the_reason_of_a_superseded_job_are_gone(storage: Storage, channel: Channel, lease: Lease) -> None:
    first = await enqueued(storage, request(channel, target_key="one"), lease)
    first = await storage.jobs.pause(channel.id, first.id, reason="wait", expected=first.revision, now=at(1), lease=lease)

    last = await enqueued(storage, request(channel, 2, target_key="one", now=at(2)), lease)

    assert (await detail(storage, first)).job == attrs.evolve(
        first, state=JobState.SUPERSEDED, reason=None, revision=last.revision, updated_at=at(2)
    )


async def test_a_finished_job_of_the_target_stays_as_it_is(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel, target_key="one"), lease)
    job = await claimed(storage, channel, lease)
    settled = await storage.jobs.settle(job.token, 1, now=at(1), lease=lease)

    last = await enqueued(storage, request(channel, 2, target_key="one"), lease)

    assert await detail(storage, job) == attrs.evolve(settled, revision=last.revision, current=False)


async def test_a_target_is_one_of_its_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    job = await enqueued(storage, request(channel, target_key="one"), lease)

    assert (await enqueued(storage, request(other, 2, target_key="one"), lease)).target_generation == 1
    assert (await detail(storage, job)).job == job


# At once


async def test_of_eight_requests_under_one_key_one_makes_a_job(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    other = await sides[1].leases.acquire("other", "suite", timedelta(minutes=1))
    assert other is not None
    for turn in range(3):
        made = [
            request(channel, turn, id=JobId(f"job-{turn}-{number}"), fingerprint="same", target_key=f"target-{turn}")
            for number in range(WRITERS)
        ]

        raced = await race(
            *(
                side.jobs.enqueue(one, lease=(lease, other)[number % 2])
                for number, (side, one) in enumerate(zip(sides, made, strict=True))
            )
        )

        assert not raced.refused
        assert sum(not answer.repeated for answer in raced.won) == 1
        [job] = {answer.job.id: answer.job for answer in raced.won}.values()
        assert (job.revision, job.target_generation) == (turn + 1, 1)
        assert {answer.job.revision for answer in raced.won} == {turn + 1}


async def test_eight_requests_for_one_target_leave_one_unfinished(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    raced = await race(
        *(
            side.jobs.enqueue(request(channel, number, target_key="one"), lease=lease)
            for number, side in enumerate(sides, start=1)
        )
    )

    assert sorted(answer.job.target_generation for answer in raced.won) == list(range(1, WRITERS + 1))
    assert sorted(answer.job.revision for answer in raced.won) == list(range(1, WRITERS + 1))
    jobs = (await page(sides[0], channel)).jobs
    assert [job.state for job in jobs].count(JobState.SUPERSEDED) == WRITERS - 1
    [last] = [job for job in jobs if job.state is JobState.PENDING]
    assert last.target_generation == WRITERS


async def test_of_eight_requests_of_one_id_in_eight_channels_one_is_kept(sides: list[Storage], lease: Lease) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]

    raced = await race(*(side.jobs.enqueue(request(place), lease=lease) for side, place in zip(sides, channels, strict=True)))

    assert len(raced.won) == 1
    assert raced.refusals() == {(JobExists, ("job-1",))}
    assert sum([(await page(sides[0], place)).revision for place in channels]) == 1


# Text


@pytest.mark.parametrize("text", [*STORABLE.values(), *UNSTORABLE.values()], ids=[*STORABLE, *UNSTORABLE])
async def test_an_input_of_any_text_survives(storage: Storage, channel: Channel, lease: Lease, text: str) -> None:
    value: Json = {text: [text, {"deep": text}, None, 1.5]}

    job = await enqueued(storage, request(channel, input=value), lease)

    assert job.input == value
    assert (await detail(storage, job)).job.input == value
    assert (await claimed(storage, channel, lease)).input == value


@pytest.mark.parametrize("value", ["a string", "", None, 0, False, [], {}], ids=repr)
async def test_an_input_need_not_be_an_object(storage: Storage, channel: Channel, lease: Lease, value: Json) -> None:
    job = await enqueued(storage, request(channel, input=value), lease)

    assert (await detail(storage, job)).job.input == job.input == value


async def test_an_input_is_a_copy(storage: Storage, channel: Channel, lease: Lease) -> None:
    inner: list[Json] = [1]
    await enqueued(storage, request(channel, input={"inner": inner}), lease)
    inner.append(2)

    for _ in range(2):
        job = (await page(storage, channel)).jobs[0]
        assert job.input == {"inner": [1]}
        assert isinstance(job.input, dict)
        job.input["inner"] = "changed"


async def test_an_input_that_is_no_json_is_refused_before_the_lease(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease
) -> None:
    for guard in (lease, expired):
        with pytest.raises(InvalidField):
            await storage.jobs.enqueue(request(channel, input=[float("nan")]), lease=guard)
    assert (await page(storage, channel)).revision == 0


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_names_of_any_text_a_column_can_keep_come_back_exactly(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    made = request(channel, id=JobId(text), type=text, target_key=text, idempotency_key=text, fingerprint=text)

    job = await enqueued(storage, made, lease)

    assert [job.id, job.type, job.target_key, job.idempotency_key, job.fingerprint] == [text] * 5
    assert await detail(storage, job) == JobDetail(revision=job.revision, job=job, current=True, artifact=None)
    assert (await storage.jobs.enqueue(made, lease=lease)).repeated
    assert (await enqueued(storage, request(channel, 2, target_key=text), lease)).target_generation == 2


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_name_is_refused_missing_or_never_found(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    job = await enqueued(storage, request(channel), lease)
    for field in ("id", "type", "target_key", "idempotency_key", "fingerprint"):
        changes: dict[str, Any] = {field: text}
        with pytest.raises(InvalidField) as caught:
            request(channel, **changes)
        assert caught.value.field == field
    with pytest.raises(InvalidField):
        JobCursor(at=T0, id=JobId(text))

    with pytest.raises(ChannelMissing):
        await storage.jobs.enqueue(request(channel, 2, channel_id=ChannelId(text)), lease=lease)
    assert await storage.jobs.list(ChannelId(text)) is None
    assert await storage.jobs.get(ChannelId(text), job.id) is None
    assert await storage.jobs.get(channel.id, JobId(text)) is None
