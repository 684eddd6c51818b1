"""A worker claims jobs that are due, each for itself alone, in the order in which they fell due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from chopin_contract_tests.builders import T0, at, creation
from chopin_contract_tests.builders_jobs import MINUTE, MOMENT, claimed, enqueued, later, request, seen, step
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_lists import IDS
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import ClaimGeneration
from chopin_core.errors import ChannelMissing, ClaimLost, InvalidField, JobMissing, JobMoved
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Claim, ClaimToken, Job, JobState
from chopin_core.ports.jobs import CLAIM_LIMIT
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def claim(
    storage: Storage, lease: Lease, *, now: datetime = T0, count: int = 9, channel: Channel | None = None, owner: str = "worker"
) -> tuple[Job, ...]:
    channel_id = None if channel is None else channel.id
    return await storage.jobs.claim(owner=owner, count=count, ttl=MINUTE, now=now, lease=lease, channel_id=channel_id)


def ids(jobs: tuple[Job, ...]) -> list[str]:
    return [job.id for job in jobs]


# Who gets what


async def test_a_claimed_job_is_its_workers_until_the_claim_expires(
    storage: Storage, connect: Connect, channel: Channel, lease: Lease
) -> None:
    job = await enqueued(storage, request(channel), lease)

    [running] = await storage.jobs.claim(owner="ada", count=1, ttl=MINUTE, now=at(5), lease=lease)

    assert running == later(
        job,
        state=JobState.RUNNING,
        attempts=1,
        claim_generation=ClaimGeneration(1),
        claim=Claim(owner="ada", expires_at=at(65), binding=None),
        updated_at=at(5),
    )
    assert running.token == ClaimToken(channel_id=channel.id, job_id=job.id, owner="ada", generation=ClaimGeneration(1))
    detail = await (await connect()).jobs.get(channel.id, job.id)
    assert detail is not None
    assert (detail.job, detail.revision) == (running, 2)


async def test_the_instants_of_a_claim_come_back_in_utc(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel), lease)

    job = await claimed(storage, channel, lease, now=at(1).astimezone(timezone(timedelta(hours=1))))

    assert job.claim is not None
    assert (job.claim.expires_at, job.claim.expires_at.tzinfo) == (at(61), UTC)
    assert (job.updated_at, job.updated_at.tzinfo) == (at(1), UTC)


async def test_a_job_is_due_from_the_instant_on_which_it_is_available(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel, available_at=at(5)), lease)

    assert await claim(storage, lease, now=at(5) - MOMENT) == ()
    assert ids(await claim(storage, lease, now=at(5))) == ["job-1"]


async def test_a_running_job_is_due_again_from_the_instant_on_which_its_claim_expires(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await enqueued(storage, request(channel), lease)
    first = await claimed(storage, channel, lease, owner="ada")
    first = await storage.jobs.renew(
        first.token, ttl=MINUTE, binding={"at": 1}, expected=first.revision, now=at(1), lease=lease
    )
    first = await storage.jobs.progress(first.token, step(), now=at(2), lease=lease)

    assert await claim(storage, lease, now=at(61) - MOMENT) == ()
    [second] = await claim(storage, lease, now=at(61), owner="grace")

    assert second == later(
        first,
        attempts=2,
        claim_generation=ClaimGeneration(2),
        claim=Claim(owner="grace", expires_at=at(121), binding=None),
        updated_at=at(61),
    )


async def test_whoever_lost_the_claim_is_refused_from_then_on(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel), lease)
    first = await claimed(storage, channel, lease)
    second = await claimed(storage, channel, lease, now=at(60))
    before = await seen(storage, channel)

    for now in (at(1), at(61)):
        with pytest.raises(ClaimLost) as caught:
            await storage.jobs.settle(first.token, "late", now=now, lease=lease)
        assert (caught.value.job_id, caught.value.generation) == (first.id, 1)
    assert await seen(storage, channel) == before

    await storage.jobs.settle(second.token, "in time", now=at(61), lease=lease)


async def test_jobs_come_in_the_order_in_which_they_fell_due(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel, 1), lease)
    await storage.jobs.claim(owner="gone", count=1, ttl=timedelta(seconds=10), now=T0, lease=lease)
    for number, due, made in ((2, 20, 3), (3, 20, 2), (4, 5, 9), (5, 20, 3)):
        await enqueued(storage, request(channel, number, available_at=at(due), now=at(made)), lease)

    assert ids(await claim(storage, lease, now=at(30))) == ["job-4", "job-1", "job-3", "job-2", "job-5"]


async def test_jobs_of_one_instant_come_in_code_point_order(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, id in enumerate(reversed(IDS)):
        await enqueued(storage, request(channel, number, id=JobId(id)), lease)

    first = await claim(storage, lease, count=4)
    assert ids(first) == IDS[:4]
    assert ids(await claim(storage, lease, count=99)) == IDS[4:]
    assert await claim(storage, lease, count=99) == ()


async def test_a_worker_gets_as_many_as_it_asks_for_and_never_more_than_100(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    for number in range(CLAIM_LIMIT + 5):
        await enqueued(storage, request(channel, number), lease)

    assert len(await claim(storage, lease, count=2)) == 2
    assert len(await claim(storage, lease, count=10**9)) == CLAIM_LIMIT
    assert len(await claim(storage, lease, count=10**9)) == 3


async def test_a_worker_may_ask_for_the_jobs_of_one_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    await enqueued(storage, request(channel, 1), lease)
    await enqueued(storage, request(other, 2, available_at=at(-5)), lease)

    assert ids(await claim(storage, lease, channel=channel)) == ["job-1"]
    assert ids(await claim(storage, lease)) == ["job-2"]
    assert await storage.jobs.claim(owner="o", count=1, ttl=MINUTE, now=at(99), lease=lease, channel_id=ChannelId("no")) == ()


async def test_what_is_not_due_is_not_claimed(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in range(1, 7):
        await enqueued(storage, request(channel, number), lease)
    by_id = {job.id: job for job in await claim(storage, lease, count=3)}
    await storage.jobs.settle(by_id[JobId("job-1")].token, 1, now=T0, lease=lease)
    await storage.jobs.fail(by_id[JobId("job-2")].token, reason="broken", now=T0, lease=lease)
    await storage.jobs.cancel(channel.id, JobId("job-3"), now=T0, lease=lease)
    fourth = await storage.jobs.get(channel.id, JobId("job-4"))
    assert fourth is not None
    await storage.jobs.pause(channel.id, fourth.job.id, reason="wait", expected=fourth.job.revision, now=T0, lease=lease)
    await enqueued(storage, request(channel, 7, target_key="target-5", available_at=at(99)), lease)

    assert ids(await claim(storage, lease, now=at(98), count=9)) == ["job-6"]


# Counting


async def test_the_jobs_of_one_claim_share_a_revision_in_each_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    for number, place in enumerate((channel, other, channel, channel)):
        await enqueued(storage, request(place, number), lease)

    jobs = await claim(storage, lease)

    assert [(job.channel_id, job.revision) for job in jobs] == [
        (channel.id, 4),
        (other.id, 2),
        (channel.id, 4),
        (channel.id, 4),
    ]
    for place, revision in ((channel, 4), (other, 2)):
        page = await storage.jobs.list(place.id)
        assert page is not None
        assert page.revision == revision
        assert {job.revision for job in page.jobs} == {revision}


async def test_a_claim_of_nothing_raises_nothing(storage: Storage, channel: Channel, lease: Lease) -> None:
    await enqueued(storage, request(channel, available_at=at(9)), lease)
    before = await seen(storage, channel)

    assert await claim(storage, lease) == ()
    assert await seen(storage, channel) == before


async def test_attempts_and_generations_count_every_claim_and_failures_do_not(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await enqueued(storage, request(channel), lease)

    for attempt in range(1, 4):
        job = await claimed(storage, channel, lease, now=at(60 * attempt))
        assert (job.attempts, job.claim_generation, job.failures) == (attempt, attempt, 0)


# Refused


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"owner": ""}, "owner"),
        ({"owner": "a\0b"}, "owner"),
        ({"owner": "\ud800"}, "owner"),
        ({"count": 0}, "count"),
        ({"count": -1}, "count"),
        ({"ttl": timedelta(0)}, "ttl"),
        ({"ttl": -MOMENT}, "ttl"),
    ],
    ids=repr,
)
async def test_a_claim_of_nobody_nothing_or_no_time_is_refused_before_the_lease(
    storage: Storage, channel: Channel, lease: Lease, expired: Lease, changes: dict[str, object], field: str
) -> None:
    await enqueued(storage, request(channel), lease)
    before = await seen(storage, channel)

    for guard in (lease, expired):
        given = {"owner": "worker", "count": 1, "ttl": MINUTE, "now": T0, "lease": guard, **changes}
        with pytest.raises(InvalidField) as caught:
            await storage.jobs.claim(**given)  # type: ignore[arg-type]  # because mypy does not look into the dictionary
        assert caught.value.field == field
    assert await seen(storage, channel) == before


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_a_channel_that_no_column_could_name_has_no_jobs(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    await enqueued(storage, request(channel), lease)

    assert await storage.jobs.claim(owner="o", count=1, ttl=MINUTE, now=T0, lease=lease, channel_id=ChannelId(text)) == ()


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_an_owner_of_any_text_a_column_can_keep_holds_the_claim(
    storage: Storage, channel: Channel, lease: Lease, text: str
) -> None:
    await enqueued(storage, request(channel), lease)

    job = await claimed(storage, channel, lease, owner=text)

    assert job.token.owner == text
    assert (await storage.jobs.settle(job.token, 1, now=T0, lease=lease)).job.state is JobState.COMPLETED


# At once


async def test_no_job_is_ever_claimed_by_two_of_eight_workers(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    other = await sides[1].leases.acquire("other", "suite", timedelta(minutes=1))
    assert other is not None
    channels = [channel, *[await sides[0].channels.create(creation(f"channel-{number}")) for number in (2, 3)]]
    for number in range(60):
        await enqueued(sides[0], request(channels[number % 3], number), lease)

    async def work(number: int, side: Storage) -> list[Job]:
        jobs: list[Job] = []
        while found := await claim(side, (lease, other)[number % 2], count=2 + number % 3, owner=f"worker {number}"):
            jobs += found
        return jobs

    raced = await race(*(work(number, side) for number, side in enumerate(sides)))

    jobs = [job for found in raced.won for job in found]
    assert sorted(job.id for job in jobs) == sorted(f"job-{number}" for number in range(60))
    assert {(job.attempts, job.claim_generation) for job in jobs} == {(1, 1)}
    for place in channels:
        page = await sides[0].jobs.list(place.id, limit=100)
        assert page is not None
        assert {job.id: job for job in page.jobs} == {job.id: job for job in jobs if job.channel_id == place.id}
        assert page.revision == max(job.revision for job in page.jobs)


async def test_an_expired_claim_goes_to_one_of_eight_workers(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    await enqueued(sides[0], request(channel), lease)
    for turn in range(1, 6):
        raced = await race(
            *(claim(side, lease, now=at(60 * turn), owner=f"worker {number}") for number, side in enumerate(sides))
        )

        [job] = [job for found in raced.won for job in found]
        assert (job.attempts, job.claim_generation, job.revision) == (turn, turn, turn + 1)


async def test_of_eight_that_settle_one_claim_one_does(sides: list[Storage], channel: Channel, lease: Lease) -> None:
    for turn in range(3):
        await enqueued(sides[0], request(channel, turn), lease)
        job = await claimed(sides[0], channel, lease)

        raced = await race(*(side.jobs.settle(job.token, number, now=at(1), lease=lease) for number, side in enumerate(sides)))

        [settled] = raced.won
        assert raced.refusals() == {(ClaimLost, (job.id, 1))}
        assert len(raced.refused) == WRITERS - 1
        assert await sides[0].jobs.get(channel.id, job.id) == settled


async def test_a_job_that_is_cancelled_while_it_is_settled_ends_once(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    for turn in range(5):
        await enqueued(sides[0], request(channel, turn), lease)
        job = await claimed(sides[0], channel, lease)

        async def attempt(number: int, side: Storage, job: Job = job) -> object:
            if number % 2:
                return (await side.jobs.settle(job.token, number, now=at(1), lease=lease)).job
            return await side.jobs.cancel(channel.id, job.id, reason=f"by {number}", now=at(1), lease=lease)

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        [ended] = raced.won
        detail = await sides[0].jobs.get(channel.id, job.id)
        assert detail is not None
        assert detail.job == ended
        assert detail.revision == job.revision + 1
        assert (detail.artifact is not None) is (detail.job.state is JobState.COMPLETED)


async def test_a_channel_that_is_deleted_while_its_jobs_move_is_gone_with_all_of_them(
    sides: list[Storage], lease: Lease
) -> None:
    for turn in range(5):
        place = await sides[0].channels.create(creation(f"channel of {turn}"))
        await sides[0].channels.archive(place.id, now=at(1))
        jobs = [await enqueued(sides[0], request(place, 10 * turn + number), lease) for number in range(3)]
        held = await claimed_all(sides[0], place, lease)

        async def attempt(
            number: int, side: Storage, place: Channel = place, jobs: list[Job] = jobs, held: list[Job] = held, turn: int = turn
        ) -> object:
            match number:
                case 0:
                    return await side.channels.delete(place.id)
                case 1 | 2:
                    return await claim(side, lease, now=at(600), owner=f"worker {number}")
                case 3 | 4:
                    return await side.jobs.enqueue(request(place, 10 * turn + number, now=at(2)), lease=lease)
                case 5 | 6:
                    return await side.jobs.settle(held[number - 5].token, 1, now=at(2), lease=lease)
            return await side.jobs.cancel(place.id, jobs[2].id, allow_archived=True, now=at(2), lease=lease)

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert True in raced.won
        assert {type(refused) for refused in raced.refused} <= {ChannelMissing, JobMissing, ClaimLost, JobMoved}
        assert await sides[0].jobs.list(place.id) is None
        assert [await sides[0].jobs.get(place.id, job.id) for job in jobs] == [None] * 3
        assert await claim(sides[0], lease, now=at(9000)) == ()


async def claimed_all(storage: Storage, place: Channel, lease: Lease) -> list[Job]:
    jobs = await claim(storage, lease, channel=place)
    return sorted(jobs, key=lambda job: job.id)
