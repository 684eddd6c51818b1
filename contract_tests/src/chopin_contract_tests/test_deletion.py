"""A channel that is deleted leaves nothing behind, and its names are free again."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import (
    AUTHOR,
    REPOSITORY,
    at,
    commit,
    creation,
    event,
    image,
    initial,
    pairing,
    sidecar,
    web_session,
)
from chopin_contract_tests.builders_jobs import claimed, request
from chopin_contract_tests.races import race
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.errors import ChannelActive, ChannelMissing, ChannelReferred
from chopin_core.ids import ChannelId, SessionId
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def archived(storage: Storage, channel: Channel) -> ChannelId:
    await storage.channels.archive(channel.id, now=at(50))
    return channel.id


async def test_an_archived_channel_is_gone_for_everybody(storage: Storage, channel: Channel) -> None:
    assert await storage.channels.delete(await archived(storage, channel))

    assert await storage.channels.get(channel.id) is None
    assert await storage.channels.resolve(REPOSITORY.id, channel.slug) is None
    assert await storage.collaboration.load(channel.id) is None
    assert (await storage.channels.list(REPOSITORY.id, include_archived=True)).channels == ()
    assert not await storage.channels.delete(channel.id)


async def test_an_active_channel_is_not_deleted(storage: Storage, channel: Channel) -> None:
    with pytest.raises(ChannelActive):
        await storage.channels.delete(channel.id)
    assert await storage.channels.get(channel.id) == channel


async def test_a_channel_that_never_was_is_not_deleted(storage: Storage) -> None:
    assert not await storage.channels.delete(ChannelId("nowhere"))
    assert not await storage.channels.delete(ChannelId("a\0b"))


async def test_a_parent_stays_as_long_as_it_has_a_child_archived_or_not(storage: Storage, channel: Channel) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))
    await archived(storage, channel)
    for _ in range(2):
        with pytest.raises(ChannelReferred):
            await storage.channels.delete(channel.id)
        await archived(storage, child)

    assert await storage.channels.delete(child.id)
    assert await storage.channels.delete(channel.id)


async def test_all_that_a_channel_owns_goes_with_it(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    await storage.collaboration.commit(
        commit(channel, update=b"1", sidecar=sidecar(1, creation={"brief": "b"}), events=(event(),)), lease=lease
    )
    await storage.sessions.create(web_session())
    await storage.agents.claim(channel.id, SessionId("session-1"), now=at(1))
    await storage.images.put(image(channel))
    machine = await storage.machines.pair(pairing())
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)
    await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=at(2))
    before = (await storage.navigation.sidebar(AUTHOR.id)).navigation

    assert await storage.channels.delete(await archived(storage, channel))

    again = await storage.channels.create(creation())
    stored = await storage.collaboration.load(again.id)
    assert stored is not None
    assert (stored.latest, stored.snapshot, stored.updates, stored.events, stored.sidecar) == (0, None, (), (), None)
    assert await storage.collaboration.operation(again.id, commit(channel).operation_id) is None
    assert await storage.agents.read(again.id, now=at(3)) is None
    assert await storage.images.channels(image(channel).sha256) == ()
    assert await storage.machines.chosen(AUTHOR.id, again.id) is None
    after = (await storage.navigation.sidebar(AUTHOR.id)).navigation
    assert before is not None
    assert after is not None
    assert (after.last_document, after.revision, after.updated_at) == (None, before.revision, before.updated_at)


async def test_its_jobs_go_with_it_and_what_they_were_called_is_free(storage: Storage, channel: Channel, lease: Lease) -> None:
    made = request(channel)
    await storage.jobs.enqueue(made, lease=lease)
    job = await claimed(storage, channel, lease)
    await storage.jobs.settle(job.token, "an artifact", now=at(1), lease=lease)
    await storage.jobs.enqueue(request(channel, 2, target_key=made.target_key), lease=lease)

    assert await storage.channels.delete(await archived(storage, channel))

    assert await storage.jobs.list(channel.id) is None
    assert await storage.jobs.get(channel.id, made.id) is None
    again = await storage.channels.create(creation())
    page = await storage.jobs.list(again.id)
    assert page is not None
    assert (page.revision, page.jobs) == (0, ())
    fresh = await storage.jobs.enqueue(made, lease=lease)
    assert (fresh.repeated, fresh.job.revision, fresh.job.target_generation) == (False, 1, 1)
    detail = await storage.jobs.get(again.id, made.id)
    assert detail is not None
    assert detail.artifact is None


async def test_title_and_every_slug_are_free_again(storage: Storage, channel: Channel) -> None:
    await storage.channels.rename(channel.id, "Second", now=at(1))
    await storage.channels.delete(await archived(storage, channel))

    other = await storage.channels.create(creation("other", title=channel.title, titles=TitlePolicy.UNIQUE))
    renamed = await storage.channels.rename(other.id, "Second", now=at(60), titles=TitlePolicy.UNIQUE)

    assert (other.slug, renamed.channel.slug) == (channel.slug, "second")


async def test_a_deletion_and_the_making_of_a_child_do_not_both_succeed(sides: list[Storage], channel: Channel) -> None:
    await archived(sides[0], channel)

    async def makes(number: int, side: Storage) -> str:
        if number % 2:
            return "deleted" if await side.channels.delete(channel.id) else "was gone"
        return (await side.channels.create(creation(f"child {number}", parent_id=channel.id))).id

    raced = await race(*(makes(number, side) for number, side in enumerate(sides)))

    survived = await sides[0].channels.get(channel.id) is not None
    children = [won for won in raced.won if won.startswith("child")]
    assert survived is bool(children)
    assert ("deleted" in raced.won) is not survived
    assert {type(error) for error in raced.refused} <= {ChannelMissing, ChannelReferred}


async def test_of_eight_deletions_one_deletes(sides: list[Storage], channel: Channel) -> None:
    await archived(sides[0], channel)

    raced = await race(*(side.channels.delete(channel.id) for side in sides))

    assert sorted(raced.won) == [False] * 7 + [True]


async def test_a_commit_and_a_deletion_at_once_leave_all_or_nothing(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    await archived(sides[0], channel)

    async def writes(number: int, side: Storage) -> object:
        if number % 2:
            return await side.channels.delete(channel.id)
        wanted = commit(channel, operation_id=f"by {number}", sidecar=sidecar(number), allow_archived=True)
        return await side.collaboration.commit(wanted, lease=lease)

    await race(*(writes(number, side) for number, side in enumerate(sides)))

    assert await sides[0].collaboration.load(channel.id) is None
