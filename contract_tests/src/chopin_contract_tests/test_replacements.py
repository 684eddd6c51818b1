"""A replacement starts the history of a channel anew, without forgetting what was acknowledged."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import at, commit, creation, event, initial, question, replacement, sidecar
from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelArchived, ChannelMissing, InvalidField, LeaseLost, StaleWrite
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import CommitResult, Snapshot, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


async def test_the_whole_state_after_a_replacement(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    for number in (1, 2):
        made = commit(channel, number, update=b"old", sidecar=sidecar(number, graph={}), events=(event(f"event-{number}"),))
        await storage.collaboration.commit(made, lease=lease)
    before = await loaded(storage, channel)
    record = sidecar(3, questions=[question(questions=2)])
    made_new = replacement(channel, 3, now=at(30), sidecar=record, document=bytes(range(256)))

    result = await storage.collaboration.replace(made_new, lease=lease)

    assert result == CommitResult(revision=StorageRevision(3), sequence=StorageSequence(3))
    assert await loaded(storage, channel) == StoredChannel(
        channel=attrs.evolve(before.channel, revision=StorageRevision(3), updated_at=at(30), unanswered_decisions=2),
        latest=StorageSequence(3),
        snapshot=Snapshot(
            generation=made_new.generation,
            revision=StorageRevision(3),
            through=StorageSequence(3),
            epoch=made_new.epoch,
            source=made_new.source,
            source_hash=made_new.source_hash,
            document=made_new.document,
            sidecar=record,
            created_at=at(30),
        ),
        updates=(),
        events=before.events,
        sidecar=record,
    )


async def test_the_first_document_of_an_empty_channel_is_a_replacement(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    await storage.collaboration.replace(replacement(channel), lease=lease)

    stored = await loaded(storage, channel)
    assert stored.snapshot is not None
    assert (stored.snapshot.document, stored.snapshot.through, stored.channel.revision) == (b"document 1", 1, 1)


async def test_commits_go_on_after_a_replacement(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, 1, update=b"old"), lease=lease)
    await storage.collaboration.replace(replacement(channel, 2), lease=lease)

    result = await storage.collaboration.commit(commit(channel, 3, update=b"new"), lease=lease)

    stored = await loaded(storage, channel)
    assert (result.revision, result.sequence) == (3, 3)
    assert [(kept.sequence, kept.update) for kept in stored.updates] == [(3, b"new")]


async def test_the_snapshot_keeps_its_own_copy_of_the_record(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(channel, 1, sidecar=sidecar(1, graph={})), lease=lease)
    await storage.collaboration.commit(commit(channel, 2, sidecar=sidecar(2)), lease=lease)

    stored = await loaded(storage, channel)
    assert stored.snapshot is not None
    assert (stored.snapshot.sidecar, stored.sidecar) == (sidecar(1, graph={}), sidecar(2))


async def test_the_activity_time_never_goes_back(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(channel, now=at(-60)), lease=lease)

    stored = await loaded(storage, channel)
    assert stored.snapshot is not None
    assert (stored.channel.updated_at, stored.snapshot.created_at) == (channel.updated_at, at(-60))


async def test_other_channels_are_left_alone(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("other", initial=initial()))
    await storage.collaboration.commit(commit(other, update=b"1"), lease=lease)
    before = await loaded(storage, other)

    await storage.collaboration.replace(replacement(channel), lease=lease)

    assert await loaded(storage, other) == before


async def test_a_stale_replacement_is_refused_and_leaves_nothing(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in (1, 2):
        await storage.collaboration.commit(commit(channel, number, update=b"kept"), lease=lease)
    before = await loaded(storage, channel)

    for expected in (0, 1, 3):
        late = replacement(channel, 3, expected=StorageRevision(expected), operation_id=OperationId("late"), now=at(99))
        with pytest.raises(StaleWrite) as caught:
            await storage.collaboration.replace(late, lease=lease)

        assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert await storage.collaboration.operation(channel.id, late.operation_id) is None
    assert await loaded(storage, channel) == before


async def test_an_archived_channel_is_not_replaced(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(1))
    before = await loaded(storage, channel)

    with pytest.raises(ChannelArchived) as caught:
        await storage.collaboration.replace(replacement(channel, now=at(9)), lease=lease)

    assert caught.value.channel_id == channel.id
    assert await loaded(storage, channel) == before


async def test_a_record_that_is_no_json_is_refused_and_leaves_nothing(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await loaded(storage, channel)

    with pytest.raises(InvalidField):
        await storage.collaboration.replace(replacement(channel, sidecar=sidecar(1, graph=float("nan"))), lease=lease)

    assert await loaded(storage, channel) == before


async def test_the_first_of_several_reasons_is_given(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(1))
    wrong = replacement(channel, channel_id=ChannelId("unknown"), expected=StorageRevision(7))

    with pytest.raises(LeaseLost):
        await storage.collaboration.replace(wrong, lease=attrs.evolve(lease, owner="nobody"))
    with pytest.raises(ChannelMissing) as missing:
        await storage.collaboration.replace(wrong, lease=lease)
    wrong = attrs.evolve(wrong, channel_id=channel.id)
    with pytest.raises(ChannelArchived):
        await storage.collaboration.replace(wrong, lease=lease)
    await storage.channels.restore(channel.id, now=at(2))
    with pytest.raises(StaleWrite):
        await storage.collaboration.replace(wrong, lease=lease)

    assert missing.value.channel_id == "unknown"
    await storage.collaboration.replace(attrs.evolve(wrong, expected=StorageRevision(0)), lease=lease)
