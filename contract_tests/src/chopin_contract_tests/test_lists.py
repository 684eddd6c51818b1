"""A repository's channels come in pages: by latest activity in ``list``, by creation in ``scan``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from chopin_contract_tests.builders import ELSEWHERE, REPOSITORY, T0, at, checkpoint, commit, creation, sidecar
from chopin_core.channel import Channel
from chopin_core.ids import ChannelId
from chopin_core.ports.channels import PAGE_LIMIT, ChannelStore, Cursor, Page
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")

IDS = ["B", "Z", "_", "a", "a-1", "b", "z", "é", "\uffff", "😀"]
"""In code-point order, which is neither that of a dictionary nor that of UTF-16."""

Pages = Callable[[ChannelStore, int, Cursor | None], Awaitable[Page]]


async def listing(channels: ChannelStore, limit: int, after: Cursor | None) -> Page:
    return await channels.list(REPOSITORY.id, limit=limit, after=after)


async def scanning(channels: ChannelStore, limit: int, after: Cursor | None) -> Page:
    return await channels.scan(REPOSITORY.id, limit=limit, after=after)


both = pytest.mark.parametrize("pages", [listing, scanning], ids=["list", "scan"])


def ids(page: Page) -> list[str]:
    return [channel.id for channel in page.channels]


async def test_the_latest_activity_is_listed_first(storage: Storage) -> None:
    for id, seconds in (("a", 2), ("b", 3), ("c", 1)):
        await storage.channels.create(creation(id, now=at(seconds)))

    assert ids(await storage.channels.list(REPOSITORY.id)) == ["b", "a", "c"]

    await storage.channels.rename(ChannelId("c"), "Renamed", now=at(4))
    assert ids(await storage.channels.list(REPOSITORY.id)) == ["c", "b", "a"]


async def test_a_listed_channel_is_the_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, sidecar=sidecar(1, questions=[])), lease=lease)
    expected = await storage.channels.get(channel.id)

    for page in (await storage.channels.list(REPOSITORY.id), await storage.channels.scan(REPOSITORY.id)):
        assert page == Page(channels=(expected,) if expected else (), next=None)


@both
async def test_a_repository_shows_only_its_own_channels(storage: Storage, pages: Pages) -> None:
    await storage.channels.create(creation("elsewhere", repository=ELSEWHERE))
    assert await pages(storage.channels, 50, None) == Page(channels=(), next=None)

    await storage.channels.create(creation("here"))
    assert ids(await pages(storage.channels, 50, None)) == ["here"]


@both
async def test_channels_of_one_instant_come_in_code_point_order(storage: Storage, pages: Pages) -> None:
    for id in reversed(IDS):
        await storage.channels.create(creation(id))

    assert ids(await pages(storage.channels, 50, None)) == IDS


@both
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_show_every_channel_once_and_in_order(storage: Storage, pages: Pages, limit: int) -> None:
    for place, id in enumerate(IDS):
        await storage.channels.create(creation(id, now=T0 - timedelta(microseconds=place // 3)))

    seen: list[str] = []
    after: Cursor | None = None
    for _ in range(len(IDS) // limit + 1):
        page = await pages(storage.channels, limit, after)
        seen += ids(page)
        after = page.next
        if after is None:
            break
        assert len(page.channels) == limit
        assert after.id == page.channels[-1].id
        assert after.at == page.channels[-1].updated_at

    assert after is None
    assert seen == IDS


@both
async def test_there_is_a_next_page_only_if_something_is_on_it(storage: Storage, pages: Pages) -> None:
    for id in ("a", "b"):
        await storage.channels.create(creation(id))

    assert (await pages(storage.channels, 3, None)).next is None
    assert (await pages(storage.channels, 2, None)).next is None
    assert (await pages(storage.channels, 1, None)).next == Cursor(at=T0, id=ChannelId("a"))


@both
async def test_a_cursor_need_not_be_a_row(storage: Storage, pages: Pages) -> None:
    for id, seconds in (("a", 1), ("b", 2), ("c", 2), ("d", 3)):
        await storage.channels.create(creation(id, now=at(seconds)))

    assert ids(await pages(storage.channels, 50, Cursor(at=at(2), id=ChannelId("bb")))) == ["c", "a"]
    assert ids(await pages(storage.channels, 50, Cursor(at=at(2.5), id=ChannelId("zz")))) == ["b", "c", "a"]
    assert ids(await pages(storage.channels, 50, Cursor(at=at(0), id=ChannelId("zz")))) == []


@both
async def test_a_limit_is_brought_into_bounds(storage: Storage, pages: Pages) -> None:
    for number in range(PAGE_LIMIT + 2):
        await storage.channels.create(creation(f"channel-{number:03}"))

    for asked, given in ((-3, 1), (0, 1), (1, 1), (PAGE_LIMIT, PAGE_LIMIT), (PAGE_LIMIT + 1, PAGE_LIMIT), (10**9, PAGE_LIMIT)):
        assert len((await pages(storage.channels, asked, None)).channels) == given


async def test_a_page_has_50_channels_unless_asked_otherwise(storage: Storage) -> None:
    for number in range(51):
        await storage.channels.create(creation(f"channel-{number:03}"))

    for page in (await storage.channels.list(REPOSITORY.id), await storage.channels.scan(REPOSITORY.id)):
        assert len(page.channels) == 50
        assert page.next is not None


async def test_a_scan_stays_in_order_of_creation_while_channels_change(storage: Storage, lease: Lease) -> None:
    for id, seconds in (("a", 1), ("b", 2), ("c", 3)):
        await storage.channels.create(creation(id, now=at(seconds)))
    first = await storage.channels.scan(REPOSITORY.id, limit=1)
    a = first.channels[0]
    assert a.id == "c"

    await storage.channels.rename(ChannelId("a"), "Renamed", now=at(10))
    await storage.collaboration.commit(commit(a, now=at(11)), lease=lease)

    assert ids(await storage.channels.scan(REPOSITORY.id)) == ["c", "b", "a"]
    assert ids(await storage.channels.scan(REPOSITORY.id, after=first.next)) == ["b", "a"]


async def test_a_commit_brings_a_channel_to_the_front_and_a_checkpoint_does_not(storage: Storage, lease: Lease) -> None:
    a, b = [await storage.channels.create(creation(id, now=at(0))) for id in ("a", "b")]

    await storage.collaboration.commit(commit(b, now=at(1), sidecar=sidecar()), lease=lease)
    assert ids(await storage.channels.list(REPOSITORY.id)) == ["b", "a"]

    await storage.collaboration.commit(commit(a, now=at(2)), lease=lease)
    stored = await storage.collaboration.load(b.id)
    assert stored is not None
    await storage.collaboration.checkpoint(checkpoint(stored, now=at(3)), lease=lease)
    assert ids(await storage.channels.list(REPOSITORY.id)) == ["a", "b"]


async def family(storage: Storage) -> None:
    """An active and an archived parent, each with an active and an archived child; newest first in this order."""
    for place, (id, parent) in enumerate(
        (("on", None), ("on/on", "on"), ("on/off", "on"), ("off", None), ("off/on", "off"), ("off/off", "off"))
    ):
        await storage.channels.create(creation(id, parent_id=parent, now=at(-place)))
    for id in ("on/off", "off", "off/off"):
        await storage.channels.archive(ChannelId(id), now=at(-10))


async def test_a_list_hides_what_is_archived_and_what_is_under_it(storage: Storage) -> None:
    await family(storage)

    assert ids(await storage.channels.list(REPOSITORY.id)) == ["on", "on/on"]


async def test_a_scan_hides_what_is_archived_itself(storage: Storage) -> None:
    await family(storage)

    assert ids(await storage.channels.scan(REPOSITORY.id)) == ["on", "on/on", "off/on"]


async def test_everything_is_shown_on_request(storage: Storage) -> None:
    await family(storage)

    everything = ["on", "on/on", "on/off", "off", "off/on", "off/off"]
    assert ids(await storage.channels.list(REPOSITORY.id, include_archived=True)) == everything
    assert ids(await storage.channels.scan(REPOSITORY.id, include_archived=True)) == everything


async def test_hidden_channels_take_no_room_on_a_page(storage: Storage) -> None:
    await family(storage)

    first = await storage.channels.list(REPOSITORY.id, limit=1)
    assert ids(await storage.channels.list(REPOSITORY.id, limit=1, after=first.next)) == ["on/on"]
    assert (await storage.channels.list(REPOSITORY.id, limit=2)).next is None

    second = await storage.channels.scan(REPOSITORY.id, limit=2)
    assert ids(await storage.channels.scan(REPOSITORY.id, limit=2, after=second.next)) == ["off/on"]


async def test_a_restored_channel_is_shown_again(storage: Storage) -> None:
    await family(storage)

    await storage.channels.restore(ChannelId("off"), now=at(5))

    assert ids(await storage.channels.list(REPOSITORY.id)) == ["off", "on", "on/on", "off/on"]
