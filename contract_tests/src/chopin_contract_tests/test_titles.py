"""Titles change, and may repeat unless the writer asks that they do not."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, ELSEWHERE, T0, at, commit, creation, event, initial, sidecar
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.errors import ChannelArchived, ChannelMissing, InvalidField, TitleTaken
from chopin_core.ids import ChannelId
from chopin_core.ports.channels import Changed
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")

UNIQUE = TitlePolicy.UNIQUE


async def named(storage: Storage, id: str, title: str) -> Channel:
    return await storage.channels.create(creation(id, title=title))


async def test_a_rename_changes_title_slug_and_activity_and_nothing_else(storage: Storage) -> None:
    before = await named(storage, "a", "Before")

    changed = await storage.channels.rename(before.id, "After", now=at(3))

    after = attrs.evolve(before, title="After", slug="after", updated_at=at(3))
    assert changed == Changed(channel=after, changed=True)
    assert await storage.channels.get(before.id) == after


async def test_a_rename_leaves_the_history_alone(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    written = commit(channel, update=b"one", sidecar=sidecar(1, graph={}), events=(event(),))
    await storage.collaboration.commit(written, lease=lease)
    before = await storage.collaboration.load(channel.id)
    assert before is not None

    renamed = (await storage.channels.rename(channel.id, "After", now=at(9))).channel

    assert await storage.collaboration.load(channel.id) == attrs.evolve(before, channel=renamed)


@pytest.mark.parametrize("policy", TitlePolicy)
async def test_the_same_title_again_changes_nothing(storage: Storage, policy: TitlePolicy) -> None:
    before = await named(storage, "a", "Same")
    await named(storage, "b", "Same")

    changed = await storage.channels.rename(before.id, "Same", now=at(3), titles=policy)

    assert changed == Changed(channel=before, changed=False)
    assert await storage.channels.get(before.id) == before


@pytest.mark.parametrize(
    "late", [0, 0.0009, -1, -3600], ids=["same instant", "900 µs later", "a second earlier", "an hour earlier"]
)
async def test_the_activity_moves_by_a_millisecond_when_the_clock_does_not(storage: Storage, late: float) -> None:
    before = await named(storage, "a", "Before")

    changed = await storage.channels.rename(before.id, "After", now=at(late))

    assert changed.channel.updated_at == T0 + timedelta(milliseconds=1)


async def test_titles_may_repeat_by_default(storage: Storage) -> None:
    await named(storage, "a", "Same")
    second = await named(storage, "b", "Same")
    third = await named(storage, "c", "Other")

    renamed = (await storage.channels.rename(third.id, "Same", now=at(1))).channel

    assert [second.title, renamed.title] == ["Same", "Same"]


async def test_a_free_title_passes_as_unique(storage: Storage) -> None:
    created = await storage.channels.create(creation("a", title="Free", titles=UNIQUE))

    renamed = (await storage.channels.rename(created.id, "Free too", now=at(1), titles=UNIQUE)).channel

    assert [created.title, renamed.title] == ["Free", "Free too"]


@pytest.mark.parametrize(
    ("taken", "wanted"), [("Same", "Same"), ("Same", "sAME"), ("Größe", "GRÖßE"), ("ПЛАН", "план"), ("ΩΜΕΓΑ", "ωμεγα")]
)
async def test_a_unique_title_must_differ_in_more_than_case(storage: Storage, taken: str, wanted: str) -> None:
    await named(storage, "a", taken)
    other = await named(storage, "b", "Other")

    with pytest.raises(TitleTaken) as creating:
        await storage.channels.create(creation("c", title=wanted, titles=UNIQUE))
    with pytest.raises(TitleTaken) as renaming:
        await storage.channels.rename(other.id, wanted, now=at(1), titles=UNIQUE)

    assert (creating.value.title, renaming.value.title) == (wanted, wanted)
    assert await storage.channels.get(other.id) == other


@pytest.mark.parametrize(("one", "two"), [("Same", "Same "), ("é", "e\u0301"), ("resume", "résumé"), ("ß", "ss"), ("a_", "ab")])
async def test_titles_that_differ_otherwise_are_two(storage: Storage, one: str, two: str) -> None:
    await named(storage, "a", one)

    created = await storage.channels.create(creation("b", title=two, titles=UNIQUE))

    assert created.title == two


async def test_archived_channels_and_children_count_for_uniqueness(storage: Storage) -> None:
    parent = await named(storage, "a", "Archived")
    await storage.channels.create(creation("b", title="Child", parent_id=parent.id))
    await storage.channels.archive(parent.id, now=at(1))

    for title in ("archived", "child"):
        with pytest.raises(TitleTaken):
            await storage.channels.create(creation("c", title=title, titles=UNIQUE))


async def test_other_repositories_do_not_count_for_uniqueness(storage: Storage) -> None:
    await storage.channels.create(creation("a", title="Same", repository=ELSEWHERE))

    created = await storage.channels.create(creation("b", title="Same", titles=UNIQUE))
    other = await named(storage, "c", "Other")
    await storage.channels.create(creation("d", title="Renamed", repository=ELSEWHERE))
    renamed = (await storage.channels.rename(other.id, "Renamed", now=at(1), titles=UNIQUE)).channel

    assert [created.title, renamed.title] == ["Same", "Renamed"]


async def test_a_former_title_is_free_for_others(storage: Storage) -> None:
    first = await named(storage, "a", "Before")
    await storage.channels.rename(first.id, "After", now=at(1))

    created = await storage.channels.create(creation("b", title="before", titles=UNIQUE))

    assert (created.title, created.slug) == ("before", "before-2")


async def test_a_channel_may_change_the_case_of_its_own_title(storage: Storage) -> None:
    channel = await storage.channels.create(creation("a", title="Same", titles=UNIQUE))

    renamed = (await storage.channels.rename(channel.id, "SAME", now=at(1), titles=UNIQUE)).channel

    assert renamed.title == "SAME"


async def test_a_refused_rename_leaves_nothing(storage: Storage) -> None:
    await named(storage, "a", "Taken")
    before = await named(storage, "b", "Before")

    with pytest.raises(TitleTaken):
        await storage.channels.rename(before.id, "taken", now=at(1), titles=UNIQUE)

    assert await storage.channels.get(before.id) == before
    assert (await named(storage, "c", "Taken")).slug == "taken-2"


async def test_the_first_of_several_reasons_is_given(storage: Storage) -> None:
    taken = await named(storage, "a", "Taken")
    archived = await named(storage, "b", "Archived")
    await storage.channels.archive(archived.id, now=at(1))

    with pytest.raises(InvalidField) as invalid:
        await storage.channels.rename(ChannelId("unknown"), "no\0title", now=at(2), titles=UNIQUE)
    with pytest.raises(ChannelMissing) as missing:
        await storage.channels.rename(ChannelId("unknown"), taken.title, now=at(2), titles=UNIQUE)
    with pytest.raises(ChannelArchived) as refused:
        await storage.channels.rename(archived.id, taken.title, now=at(2), titles=UNIQUE)

    assert invalid.value.field == "title"
    assert missing.value.channel_id == "unknown"
    assert refused.value.channel_id == archived.id


async def test_an_archived_channel_cannot_be_renamed_even_to_its_own_title(storage: Storage) -> None:
    channel = await named(storage, "a", "Same")
    archived = (await storage.channels.archive(channel.id, now=at(1))).channel

    for title in ("Same", "Other"):
        with pytest.raises(ChannelArchived):
            await storage.channels.rename(channel.id, title, now=at(2))

    assert await storage.channels.get(channel.id) == archived


async def test_a_title_may_be_longer_than_an_index_entry(storage: Storage) -> None:
    title = " ".join(f"{number * 2654435761 % 2**32:08x}" for number in range(1, 2000))
    created = await storage.channels.create(creation("a", title=title, titles=UNIQUE, created_by=AUTHOR.id))

    with pytest.raises(TitleTaken):
        await storage.channels.create(creation("b", title=title.upper(), titles=UNIQUE))

    assert await storage.channels.get(created.id) == created
    assert created.title == title
