"""Events come back as they were committed, in order, and each is kept once."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import at, checkpoint, commit, creation, event, replacement, sidecar
from chopin_core.channel import Channel
from chopin_core.counters import StorageSequence
from chopin_core.errors import EventRepeated
from chopin_core.ports.collaboration import Event, StoredEvent, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def stored(storage: Storage, channel: Channel) -> tuple[StoredEvent, ...]:
    found = await storage.collaboration.load(channel.id)
    assert found is not None
    return found.events


async def test_events_come_back_by_sequence_and_ordinal(storage: Storage, channel: Channel, lease: Lease) -> None:
    first = (event("z", created_at=at(-5)), event("a", kind="other", payload=[1, None, {"x": "y"}]))
    third = (event("m", payload=None, created_at=at(99)),)

    for number, events in ((1, first), (2, ()), (3, third)):
        await storage.collaboration.commit(commit(channel, number, events=events), lease=lease)

    assert await stored(storage, channel) == (
        StoredEvent(sequence=StorageSequence(1), ordinal=0, event=first[0]),
        StoredEvent(sequence=StorageSequence(1), ordinal=1, event=first[1]),
        StoredEvent(sequence=StorageSequence(3), ordinal=0, event=third[0]),
    )


async def test_many_events_of_one_commit_keep_their_order(storage: Storage, channel: Channel, lease: Lease) -> None:
    events = tuple(event(f"event-{number * 7919 % 1009}") for number in range(300))

    await storage.collaboration.commit(commit(channel, events=events), lease=lease)

    kept = await stored(storage, channel)
    assert [(found.ordinal, found.event) for found in kept] == list(enumerate(events))


async def test_events_outlive_checkpoints_and_replacements(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, events=(event(),), sidecar=sidecar()), lease=lease)
    before = await stored(storage, channel)
    found = await storage.collaboration.load(channel.id)
    assert found is not None

    await storage.collaboration.checkpoint(checkpoint(found), lease=lease)
    assert await stored(storage, channel) == before

    await storage.collaboration.replace(replacement(channel, 2), lease=lease)
    assert await stored(storage, channel) == before


@pytest.mark.parametrize(
    ("events", "named"),
    [
        ((event("new"), event("used")), "used"),
        ((event("twice"), event("new"), event("twice", kind="other")), "twice"),
        ((event("used", kind="other", payload=7),), "used"),
        ((event("new"), event("also used"), event("used")), "also used"),
    ],
    ids=["stored before", "twice in one", "stored with other content", "two of them"],
)
async def test_an_event_id_in_use_refuses_the_whole_commit(
    storage: Storage, channel: Channel, lease: Lease, events: tuple[Event, ...], named: str
) -> None:
    await storage.collaboration.commit(commit(channel, events=(event("used"), event("also used"))), lease=lease)
    before = await storage.collaboration.load(channel.id)
    title = TitleChange(title="Late")
    refused = commit(channel, 2, update=b"2", sidecar=sidecar(2), events=events, title=title, now=at(99))

    with pytest.raises(EventRepeated) as caught:
        await storage.collaboration.commit(refused, lease=lease)

    assert (caught.value.channel_id, caught.value.event_id) == (channel.id, named)
    assert await storage.collaboration.load(channel.id) == before
    assert await storage.collaboration.operation(channel.id, refused.operation_id) is None
    assert await storage.channels.resolve(channel.repository.id, "late") is None


async def test_event_ids_belong_to_their_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("other"))

    for place in (channel, other):
        await storage.collaboration.commit(commit(place, events=(event("same"),)), lease=lease)

    assert [found.event.id for found in await stored(storage, other)] == ["same"]


async def test_event_ids_are_compared_exactly(storage: Storage, channel: Channel, lease: Lease) -> None:
    ids = ["id", "ID", "id ", "ïd", "i\u0308d", ""]

    await storage.collaboration.commit(commit(channel, events=tuple(event(id) for id in ids)), lease=lease)

    assert [found.event.id for found in await stored(storage, channel)] == ids
