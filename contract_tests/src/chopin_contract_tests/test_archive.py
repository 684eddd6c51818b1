"""A channel that is put away can be read and brought back, and nothing of it moves meanwhile."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, T0, at, commit, creation, event, initial, question, sidecar
from chopin_core.channel import Channel
from chopin_core.errors import ChannelMissing
from chopin_core.ids import ChannelId
from chopin_core.ports.channels import Changed
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_an_archived_channel_shows_when_it_was_put_away(storage: Storage, channel: Channel) -> None:
    changed = await storage.channels.archive(channel.id, now=at(5))

    after = attrs.evolve(channel, archived_at=at(5), updated_at=at(5))
    assert changed == Changed(channel=after, changed=True)
    assert after.archived
    assert await storage.channels.get(channel.id) == after


async def test_archiving_again_changes_nothing(storage: Storage, channel: Channel) -> None:
    archived = (await storage.channels.archive(channel.id, now=at(5))).channel

    assert await storage.channels.archive(channel.id, now=at(9)) == Changed(channel=archived, changed=False)
    assert await storage.channels.get(channel.id) == archived


async def test_a_restored_channel_is_as_before_save_for_its_activity(storage: Storage, channel: Channel) -> None:
    await storage.channels.archive(channel.id, now=at(5))

    changed = await storage.channels.restore(channel.id, now=at(9))

    after = attrs.evolve(channel, updated_at=at(9))
    assert changed == Changed(channel=after, changed=True)
    assert await storage.channels.get(channel.id) == after


async def test_restoring_an_active_channel_changes_nothing(storage: Storage, channel: Channel) -> None:
    assert await storage.channels.restore(channel.id, now=at(9)) == Changed(channel=channel, changed=False)
    assert await storage.channels.get(channel.id) == channel


@pytest.mark.parametrize(
    "late", [0, 0.0009, -1, -3600], ids=["same instant", "900 µs later", "a second earlier", "an hour earlier"]
)
async def test_the_activity_moves_by_a_millisecond_when_the_clock_does_not(
    storage: Storage, channel: Channel, late: float
) -> None:
    archived = (await storage.channels.archive(channel.id, now=at(late))).channel
    restored = (await storage.channels.restore(channel.id, now=at(late))).channel

    assert archived.updated_at == archived.archived_at == T0 + timedelta(milliseconds=1)
    assert restored.updated_at == T0 + timedelta(milliseconds=2)


async def test_an_unknown_channel_can_be_neither_archived_nor_restored(storage: Storage) -> None:
    for call in (storage.channels.archive, storage.channels.restore):
        with pytest.raises(ChannelMissing) as caught:
            await call(ChannelId("unknown"), now=T0)

        assert caught.value.channel_id == "unknown"


async def test_no_counter_and_no_record_moves(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    written = commit(channel, update=b"one", sidecar=sidecar(1, questions=[question()]), events=(event(),))
    await storage.collaboration.commit(written, lease=lease)
    before = await storage.collaboration.load(channel.id)
    assert before is not None

    archived = (await storage.channels.archive(channel.id, now=at(9))).channel

    assert archived == attrs.evolve(before.channel, archived_at=at(9), updated_at=at(9))
    assert await storage.collaboration.load(channel.id) == attrs.evolve(before, channel=archived)


async def test_it_is_still_found_by_its_address(storage: Storage, channel: Channel) -> None:
    archived = (await storage.channels.archive(channel.id, now=at(5))).channel

    assert await storage.channels.resolve(REPOSITORY.id, channel.slug) == archived


async def test_children_are_left_as_they_are(storage: Storage, channel: Channel) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))

    await storage.channels.archive(channel.id, now=at(5))
    assert await storage.channels.get(child.id) == child

    await storage.channels.restore(channel.id, now=at(6))
    assert await storage.channels.get(child.id) == child


async def test_a_child_is_put_away_on_its_own(storage: Storage, channel: Channel) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))

    archived = (await storage.channels.archive(child.id, now=at(5))).channel

    assert archived == attrs.evolve(child, archived_at=at(5), updated_at=at(5))
    assert await storage.channels.get(channel.id) == channel


async def test_a_restored_channel_can_be_written_again(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(5))
    await storage.channels.restore(channel.id, now=at(6))

    await storage.channels.rename(channel.id, "Renamed", now=at(7))
    result = await storage.collaboration.commit(commit(channel, update=b"one"), lease=lease)

    assert result.revision == 1
