"""The jobs of a channel come in pages, the latest first, and stay in their order while they move."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chopin_contract_tests.builders import T0, at, creation
from chopin_contract_tests.builders_jobs import enqueued, request
from chopin_contract_tests.test_jobs_queue import ids, page
from chopin_contract_tests.test_lists import IDS
from chopin_core.channel import Channel
from chopin_core.counters import JobChannelRevision
from chopin_core.ids import ChannelId, JobId
from chopin_core.ports.jobs import PAGE_LIMIT, JobCursor, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "jobs"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_the_latest_job_is_listed_first(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, seconds in ((1, 2), (2, 3), (3, 1)):
        await enqueued(storage, request(channel, number, now=at(seconds)), lease)

    assert ids(await page(storage, channel)) == ["job-2", "job-1", "job-3"]


async def test_a_channel_shows_only_its_own_jobs(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("channel-2"))
    job = await enqueued(storage, request(channel), lease)

    assert await page(storage, other) == JobPage(revision=JobChannelRevision(0), jobs=(), next=None)
    assert await storage.jobs.get(other.id, job.id) is None
    assert await storage.jobs.get(channel.id, JobId("unknown")) is None
    assert await storage.jobs.get(ChannelId("unknown"), job.id) is None
    assert await storage.jobs.list(ChannelId("unknown")) is None


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_show_every_job_once_and_in_order(storage: Storage, channel: Channel, lease: Lease, limit: int) -> None:
    for place, id in enumerate(IDS):
        made = request(channel, place, id=JobId(id), now=T0 - timedelta(microseconds=place // 3))
        await enqueued(storage, made, lease)

    shown: list[str] = []
    after: JobCursor | None = None
    for _ in range(len(IDS) // limit + 1):
        found = await page(storage, channel, limit, after)
        assert found.revision == len(IDS)
        shown += ids(found)
        after = found.next
        if after is None:
            break
        assert len(found.jobs) == limit
        assert after == JobCursor(at=found.jobs[-1].created_at, id=found.jobs[-1].id)

    assert after is None
    assert shown == IDS


async def test_there_is_a_next_page_only_if_something_is_on_it(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in (1, 2):
        await enqueued(storage, request(channel, number), lease)

    assert (await page(storage, channel, 3)).next is None
    assert (await page(storage, channel, 2)).next is None
    assert (await page(storage, channel, 1)).next == JobCursor(at=T0, id=JobId("job-1"))


async def test_a_cursor_need_not_be_a_job(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, seconds in ((1, 1), (2, 2), (3, 2), (4, 3)):
        await enqueued(storage, request(channel, number, now=at(seconds)), lease)

    assert ids(await page(storage, channel, after=JobCursor(at=at(2), id=JobId("job-22")))) == ["job-3", "job-1"]
    assert ids(await page(storage, channel, after=JobCursor(at=at(2.5), id=JobId("z")))) == ["job-2", "job-3", "job-1"]
    assert ids(await page(storage, channel, after=JobCursor(at=at(0), id=JobId("z")))) == []


async def test_a_limit_is_brought_into_bounds(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in range(PAGE_LIMIT + 2):
        await enqueued(storage, request(channel, number), lease)

    for asked, given in ((-3, 1), (0, 1), (1, 1), (PAGE_LIMIT, PAGE_LIMIT), (PAGE_LIMIT + 1, PAGE_LIMIT), (10**9, PAGE_LIMIT)):
        assert len((await page(storage, channel, asked)).jobs) == given
    found = await storage.jobs.list(channel.id)
    assert found is not None
    assert len(found.jobs) == 50


async def test_a_page_stays_in_order_of_creation_while_jobs_move(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in (1, 2, 3):
        await enqueued(storage, request(channel, number, now=at(number)), lease)
    first = await page(storage, channel, 1)

    await storage.jobs.cancel(channel.id, JobId("job-1"), now=at(9), lease=lease)

    assert ids(await page(storage, channel)) == ["job-3", "job-2", "job-1"]
    assert ids(await page(storage, channel, after=first.next)) == ["job-2", "job-1"]
