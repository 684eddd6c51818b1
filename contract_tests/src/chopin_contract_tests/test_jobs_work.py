"""What a worker may do with a job it holds: renew, say how far it is, give it back, complete it, fail."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeAlias

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import T0, at, creation
from chopin_contract_tests.builders_jobs import MINUTE, MOMENT, claimed, enqueued, later, request, seen, step
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import ClaimGeneration, JobChannelRevision
from chopin_core.errors import ClaimLost, InvalidField, JobMissing, StaleJob
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Claim, ClaimToken, Job, JobState
from chopin_core.jobs.progress import KEPT, Progress, ProgressState
from chopin_core.jsonvalue import Json
from chopin_core.ports.jobs import JobDetail
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")

LATER = MINUTE + timedelta(seconds=30)

Work: TypeAlias = Callable[[Storage, ClaimToken, datetime, Lease], Awaitable[Job]]


async def renews(storage: Storage, token: ClaimToken, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.renew(token, ttl=LATER, binding="b", expected=JobChannelRevision(2), now=now, lease=lease)


async def progresses(storage: Storage, token: ClaimToken, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.progress(token, step(), now=now, lease=lease)


async def requeues(storage: Storage, token: ClaimToken, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.requeue(token, available_at=at(300), count_failure=True, now=now, lease=lease)


async def settles(storage: Storage, token: ClaimToken, now: datetime, lease: Lease) -> Job:
    return (await storage.jobs.settle(token, {"done": True}, now=now, lease=lease)).job


async def fails(storage: Storage, token: ClaimToken, now: datetime, lease: Lease) -> Job:
    return await storage.jobs.fail(token, reason="broken", now=now, lease=lease)


@pytest.fixture(params=[renews, progresses, requeues, settles, fails])
def work(request: pytest.FixtureRequest) -> Work:
    """Each of the moves that a worker makes."""
    made: Work = request.param
    return made


@pytest_asyncio.fixture(loop_scope="function")
async def job(storage: Storage, channel: Channel, lease: Lease) -> Job:
    """Claimed by ``worker`` for a minute, at revision 2."""
    await enqueued(storage, request(channel), lease)
    return await claimed(storage, channel, lease)


async def detail(storage: Storage, job: Job) -> JobDetail:
    found = await storage.jobs.get(job.channel_id, job.id)
    assert found is not None
    return found


# What all of it has in common


async def test_work_raises_the_counter_by_one_and_stamps_it_on_the_job_alone(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    other = await enqueued(storage, request(channel, 2), lease)

    moved = await work(storage, job.token, at(5), lease)

    assert (moved.revision, moved.updated_at) == (other.revision + 1, at(5))
    page = await (await connect()).jobs.list(channel.id)
    assert page is not None
    assert (page.revision, {one.id: one for one in page.jobs}) == (moved.revision, {moved.id: moved, other.id: other})


async def test_work_goes_on_in_an_archived_channel(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    archived = (await storage.channels.archive(channel.id, now=at(1))).channel

    moved = await work(storage, job.token, at(5), lease)

    assert (await detail(storage, job)).job == moved
    assert await storage.channels.get(channel.id) == archived


async def test_a_job_that_the_channel_has_not_is_missing(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    other = await storage.channels.create(creation("channel-2"))
    before = [await seen(storage, place) for place in (channel, other)]

    for changes in ({"job_id": JobId("unknown")}, {"channel_id": ChannelId("unknown")}, {"channel_id": other.id}):
        token = attrs.evolve(job.token, **changes)
        with pytest.raises(JobMissing) as caught:
            await work(storage, token, at(5), lease)
        assert caught.value.job_id == token.job_id
    assert [await seen(storage, place) for place in (channel, other)] == before


async def test_a_claim_of_another_owner_or_generation_is_not_held(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    before = await seen(storage, channel)

    for owner, generation in (("somebody", 1), ("worker", 0), ("worker", 2), ("", 1)):
        token = attrs.evolve(job.token, owner=owner, generation=ClaimGeneration(generation))
        with pytest.raises(ClaimLost) as caught:
            await work(storage, token, at(5), lease)
        assert (caught.value.job_id, caught.value.generation) == (job.id, generation)
    assert await seen(storage, channel) == before


async def test_a_claim_ends_exactly_at_its_expiry(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    before = await seen(storage, channel)

    with pytest.raises(ClaimLost):
        await work(storage, job.token, at(60), lease)
    assert await seen(storage, channel) == before

    await work(storage, job.token, at(60) - MOMENT, lease)


async def test_a_job_that_is_not_running_is_nobodys(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    waiting = await enqueued(storage, request(channel, 2), lease)
    token = ClaimToken(channel_id=channel.id, job_id=waiting.id, owner="worker", generation=ClaimGeneration(0))
    with pytest.raises(ClaimLost):
        await work(storage, token, at(5), lease)

    await storage.jobs.pause(channel.id, job.id, reason="wait", expected=job.revision, now=at(1), lease=lease)
    before = await seen(storage, channel)
    with pytest.raises(ClaimLost):
        await work(storage, job.token, at(5), lease)
    assert await seen(storage, channel) == before


async def test_a_token_that_no_column_could_name_is_of_no_job(
    storage: Storage, channel: Channel, lease: Lease, job: Job, work: Work
) -> None:
    for text in UNSTORABLE.values():
        with pytest.raises(InvalidField):
            attrs.evolve(job.token, owner=text)
        for token in (attrs.evolve(job.token, job_id=JobId(text)), attrs.evolve(job.token, channel_id=ChannelId(text))):
            with pytest.raises(JobMissing):
                await work(storage, token, at(5), lease)


# Renewed


async def test_a_renewed_claim_lasts_from_now_and_has_the_new_binding(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    for number, binding in enumerate(({"session": 1}, ["other"], None, "text"), start=1):
        renewed = await storage.jobs.renew(
            job.token, ttl=MINUTE, binding=binding, expected=job.revision, now=at(number), lease=lease
        )

        assert renewed == later(
            job,
            claim=Claim(owner="worker", expires_at=at(60 + number), binding=binding),
            updated_at=at(number),
        )
        assert (await detail(storage, job)).job == renewed
        job = renewed


async def test_a_renewed_claim_keeps_the_job_from_others(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    await storage.jobs.renew(job.token, ttl=MINUTE, binding=None, expected=job.revision, now=at(30), lease=lease)

    assert await storage.jobs.claim(owner="other", count=1, ttl=MINUTE, now=at(89), lease=lease) == ()
    await storage.jobs.settle(job.token, 1, now=at(89), lease=lease)


@pytest.mark.parametrize(
    ("ttl", "drift", "seconds"),
    [(LATER, 1, 5), (LATER, -1, 5), (timedelta(seconds=55), 0, 5), (timedelta(0), 0, 5), (-MINUTE, 0, 5), (2 * LATER, 0, -1)],
    ids=["a later revision", "an earlier one", "not longer", "no time", "negative time", "before the last change"],
)
async def test_a_renewal_of_something_else_is_stale(
    storage: Storage, channel: Channel, lease: Lease, job: Job, ttl: timedelta, drift: int, seconds: float
) -> None:
    before = await seen(storage, channel)
    expected = JobChannelRevision(job.revision + drift)

    with pytest.raises(StaleJob) as caught:
        await storage.jobs.renew(job.token, ttl=ttl, binding=1, expected=expected, now=at(seconds), lease=lease)

    assert (caught.value.job_id, caught.value.expected, caught.value.actual) == (job.id, expected, job.revision)
    assert await seen(storage, channel) == before


async def test_a_lost_claim_is_told_before_a_stale_job(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    with pytest.raises(ClaimLost):
        await storage.jobs.renew(job.token, ttl=LATER, binding=None, expected=JobChannelRevision(9), now=at(60), lease=lease)


@pytest.mark.parametrize("text", [*STORABLE.values(), *UNSTORABLE.values()], ids=[*STORABLE, *UNSTORABLE])
async def test_a_binding_of_any_text_survives(storage: Storage, channel: Channel, lease: Lease, job: Job, text: str) -> None:
    binding: Json = {text: [text, {"deep": text}]}

    renewed = await storage.jobs.renew(job.token, ttl=LATER, binding=binding, expected=job.revision, now=at(5), lease=lease)

    assert renewed.claim is not None
    assert renewed.claim.binding == binding
    assert (await detail(storage, job)).job == renewed


async def test_a_binding_is_a_copy(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    inner: list[Json] = [1]
    await storage.jobs.renew(job.token, ttl=LATER, binding={"inner": inner}, expected=job.revision, now=at(5), lease=lease)
    inner.append(2)

    for _ in range(2):
        claim = (await detail(storage, job)).job.claim
        assert claim is not None
        assert claim.binding == {"inner": [1]}
        assert isinstance(claim.binding, dict)
        claim.binding["inner"] = "changed"


# Progress


async def test_progress_is_kept_with_the_attempt_and_the_revision_of_its_time(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    interrupted = step("asking", label="Asking", state=ProgressState.INTERRUPTED, reason="rate-limit")

    first = await storage.jobs.progress(job.token, step(), now=at(1), lease=lease)
    await enqueued(storage, request(channel, 2, available_at=at(999)), lease)
    again = await claimed(storage, channel, lease, now=at(60))
    second = await storage.jobs.progress(again.token, interrupted, now=at(61), lease=lease)

    entries = (
        Progress(revision=JobChannelRevision(3), attempt=1, step=step(), created_at=at(1)),
        Progress(revision=JobChannelRevision(6), attempt=2, step=interrupted, created_at=at(61)),
    )
    assert first == later(job, progress=entries[:1], updated_at=at(1))
    assert second == later(again, progress=entries, updated_at=at(61))
    assert (await detail(storage, job)).job == second


async def test_the_instants_of_progress_come_back_in_utc(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    now = at(1).astimezone(timezone(timedelta(hours=-4)))

    for moved in (await storage.jobs.progress(job.token, step(), now=now, lease=lease), (await detail(storage, job)).job):
        [entry] = moved.progress
        assert (entry.created_at, entry.created_at.tzinfo) == (at(1), UTC)


async def test_the_last_entries_of_progress_stay(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    for number in range(KEPT + 3):
        moved = await storage.jobs.progress(job.token, step(f"s{number}"), now=at(number / 10), lease=lease)

    assert [entry.step.stage for entry in moved.progress] == [f"s{number}" for number in range(3, KEPT + 3)]
    assert (await detail(storage, job)).job == moved
    assert len(moved.progress) == KEPT == 32


async def test_progress_does_not_make_the_claim_longer(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    moved = await storage.jobs.progress(job.token, step(), now=at(50), lease=lease)

    assert moved.claim == job.claim
    with pytest.raises(ClaimLost):
        await storage.jobs.progress(job.token, step(), now=at(60), lease=lease)


async def test_progress_from_before_the_last_change_is_stale(
    storage: Storage, channel: Channel, lease: Lease, job: Job
) -> None:
    moved = await storage.jobs.progress(job.token, step(), now=at(5), lease=lease)
    before = await seen(storage, channel)

    with pytest.raises(StaleJob) as caught:
        await storage.jobs.progress(job.token, step(), now=at(5) - MOMENT, lease=lease)

    assert (caught.value.job_id, caught.value.actual) == (job.id, moved.revision)
    assert await seen(storage, channel) == before
    await storage.jobs.progress(job.token, step(), now=at(5), lease=lease)


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_label_of_any_text_a_column_can_keep_comes_back_exactly(
    storage: Storage, channel: Channel, lease: Lease, job: Job, text: str
) -> None:
    said = step(label=f"|{text}|")

    moved = await storage.jobs.progress(job.token, said, now=at(1), lease=lease)

    assert moved.progress[0].step == said
    assert moved.progress[0].step.label == f"|{text}|"
    assert (await detail(storage, job)).job == moved


# Given back


@pytest.mark.parametrize(("count_failure", "failures"), [(True, 1), (False, 0)])
async def test_a_job_that_is_given_back_waits_to_be_tried_again(
    storage: Storage, channel: Channel, lease: Lease, job: Job, count_failure: bool, failures: int
) -> None:
    waiting = await storage.jobs.requeue(
        job.token, available_at=at(300), reason="busy", count_failure=count_failure, now=at(5), lease=lease
    )

    assert waiting == later(
        job,
        state=JobState.PENDING,
        failures=failures,
        claim=None,
        available_at=at(300),
        reason="busy",
        updated_at=at(5),
    )
    assert (await detail(storage, job)).job == waiting
    assert await storage.jobs.claim(owner="w", count=1, ttl=MINUTE, now=at(300) - MOMENT, lease=lease) == ()
    again = await claimed(storage, channel, lease, now=at(300))
    assert (again.attempts, again.claim_generation, again.failures, again.reason) == (2, 2, failures, None)


async def test_a_job_may_be_given_back_without_a_reason(storage: Storage, channel: Channel, lease: Lease, job: Job) -> None:
    waiting = await storage.jobs.requeue(job.token, available_at=at(-9), count_failure=False, now=at(5), lease=lease)

    assert (waiting.reason, waiting.available_at) == (None, at(-9))


# Refused before storage is asked


async def test_what_is_no_json_is_refused_before_the_lease_and_the_claim(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job
) -> None:
    before = await seen(storage, channel)
    lost = attrs.evolve(job.token, owner="somebody")

    values: list[Any] = [[float("nan")], float("inf"), {"a": b"bytes"}]
    for value in values:
        for token, guard in ((job.token, lease), (lost, expired)):
            with pytest.raises(InvalidField):
                await storage.jobs.settle(token, value, now=at(5), lease=guard)
            with pytest.raises(InvalidField):
                await storage.jobs.renew(
                    token,
                    ttl=LATER,
                    binding=value,
                    expected=job.revision,
                    now=at(5),
                    lease=guard,
                )
    assert await seen(storage, channel) == before


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_a_reason_that_no_column_can_keep_is_refused_before_the_lease_and_the_claim(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, job: Job, text: str
) -> None:
    before = await seen(storage, channel)
    lost = attrs.evolve(job.token, owner="somebody")

    for token, guard in ((job.token, lease), (lost, expired)):
        with pytest.raises(InvalidField) as given_back:
            await storage.jobs.requeue(token, available_at=T0, reason=text, count_failure=True, now=at(5), lease=guard)
        with pytest.raises(InvalidField) as failed:
            await storage.jobs.fail(token, reason=text, now=at(5), lease=guard)
        assert [given_back.value.field, failed.value.field] == ["reason", "reason"]
    assert await seen(storage, channel) == before


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_reason_of_any_text_a_column_can_keep_comes_back_exactly(
    storage: Storage, channel: Channel, lease: Lease, job: Job, text: str
) -> None:
    failed = await storage.jobs.fail(job.token, reason=text, now=at(5), lease=lease)

    assert failed.reason == (await detail(storage, job)).job.reason == text
