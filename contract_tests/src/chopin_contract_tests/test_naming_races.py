"""Eight at once who want the same names: each is given out once, and nobody waits for ever."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import REPOSITORY, at, commit, creation, initial
from chopin_contract_tests.races import WRITERS, race
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.errors import ChannelArchived, ChannelExists, TitleTaken
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")

UNIQUE = TitlePolicy.UNIQUE
ROUNDS = 5


async def test_of_eight_new_channels_with_one_title_one_is_created(sides: list[Storage]) -> None:
    made = [creation(f"channel-{number}", title="Same", titles=UNIQUE, initial=initial()) for number in range(WRITERS)]

    raced = await race(*(side.channels.create(one) for side, one in zip(sides, made, strict=True)))

    assert raced.refusals() == {(TitleTaken, ("Same",))}
    assert (await sides[0].channels.list(REPOSITORY.id)).channels == tuple(raced.won)
    assert [created.slug for created in raced.won] == ["same"]


async def test_of_eight_new_channels_with_one_id_one_is_created(sides: list[Storage]) -> None:
    made = [creation("same", title=f"Title {number}", initial=initial()) for number in range(WRITERS)]

    raced = await race(*(side.channels.create(one) for side, one in zip(sides, made, strict=True)))

    assert raced.refusals() == {(ChannelExists, ("same",))}
    assert (await sides[0].channels.list(REPOSITORY.id)).channels == tuple(raced.won)
    addresses = [await sides[0].channels.resolve(REPOSITORY.id, f"title-{number}") for number in range(WRITERS)]
    assert [channel for channel in addresses if channel is not None] == raced.won


async def test_eight_new_channels_with_one_slug_get_eight_addresses(sides: list[Storage]) -> None:
    raced = await race(
        *(side.channels.create(creation(f"channel-{number}", title="Same")) for number, side in enumerate(sides))
    )

    slugs = ["same", *(f"same-{number}" for number in range(2, WRITERS + 1))]
    assert {channel.slug for channel in raced.won} == set(slugs)
    assert {await sides[1].channels.resolve(REPOSITORY.id, slug) for slug in slugs} == set(raced.won)


async def test_of_eight_who_want_one_title_in_every_way_one_gets_it(sides: list[Storage], lease: Lease) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]

    async def claim(number: int, side: Storage) -> None:
        channel = channels[number]
        if number % 4 == 0:
            await side.channels.create(creation(f"new-{number}", title="Wanted", titles=UNIQUE))
        elif number % 4 == 1:
            await side.channels.rename(channel.id, "WANTED", now=at(1), titles=UNIQUE)
        else:
            made = commit(channel, title=TitleChange(title="wanted", titles=UNIQUE))
            await side.collaboration.commit(made, lease=lease)

    raced = await race(*(claim(number, side) for number, side in enumerate(sides)))

    assert len(raced.won) == 1
    assert {type(refusal) for refusal in raced.refused} == {TitleTaken}
    titled = await sides[0].channels.list(REPOSITORY.id, query="wanted")
    assert [channel.slug for channel in titled.channels] == ["wanted"]


async def test_eight_renames_of_one_channel_leave_all_its_addresses(sides: list[Storage], channel: Channel) -> None:
    raced = await race(*(side.channels.rename(channel.id, f"Name {number}", now=at(1)) for number, side in enumerate(sides)))

    final = await sides[0].channels.get(channel.id)
    assert final in [changed.channel for changed in raced.won]
    assert len({changed.channel.updated_at for changed in raced.won}) == WRITERS
    for slug in (channel.slug, *(f"name-{number}" for number in range(WRITERS))):
        assert await sides[1].channels.resolve(REPOSITORY.id, slug) == final


async def test_renaming_a_parent_while_children_are_made_blocks_nobody(
    sides: list[Storage], channel: Channel, lease: Lease
) -> None:
    for turn in range(ROUNDS):

        async def touch(number: int, side: Storage, turn: int = turn) -> None:
            if number % 4 == 0:
                await side.channels.rename(channel.id, f"Parent {turn}-{number}", now=at(turn), titles=UNIQUE)
            elif number % 4 == 3:
                await side.channels.archive(channel.id, now=at(turn))
                await side.channels.restore(channel.id, now=at(turn))
            else:
                await side.channels.create(creation(f"{turn}-{number}", parent_id=channel.id, titles=UNIQUE))

        raced = await race(*(touch(number, side) for number, side in enumerate(sides)))
        assert {type(refusal) for refusal in raced.refused} <= {ChannelArchived}

    scanned = await sides[0].channels.scan(REPOSITORY.id, limit=100)
    assert len(scanned.channels) == 1 + ROUNDS * WRITERS // 2
