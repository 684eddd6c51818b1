"""A checkpoint stands for the journal it covers, and is refused rather than lose a commit."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from chopin_contract_tests.builders import at, checkpoint, commit, creation, event, initial, question, replacement, sidecar
from chopin_core.channel import Channel
from chopin_core.counters import Epoch, StorageRevision, StorageSequence
from chopin_core.errors import ChannelMissing, LeaseLost, StaleCheckpoint, StaleWrite
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import Snapshot, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarPatch, SidecarRecord

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def loaded(storage: Storage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


async def grown(storage: Storage, lease: Lease) -> StoredChannel:
    """A channel with an initial document and four commits, all but the third with an update."""
    channel = await storage.channels.create(creation(initial=initial()))
    for number in (1, 2, 3, 4):
        made = commit(
            channel,
            number,
            update=None if number == 3 else b"update %d" % number,
            sidecar=sidecar(number, questions=[question(questions=number)]),
            events=(event(f"event-{number}"),),
        )
        await storage.collaboration.commit(made, lease=lease)
    return await loaded(storage, channel)


async def test_the_snapshot_is_replaced_and_the_journal_it_covers_dropped(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    made = checkpoint(before, epoch=Epoch("epoch-9"), now=at(500), document=bytes(range(256)))

    await storage.collaboration.checkpoint(made, lease=lease)

    assert await loaded(storage, before.channel) == attrs.evolve(
        before,
        snapshot=Snapshot(
            generation=made.generation,
            revision=StorageRevision(4),
            through=StorageSequence(4),
            epoch=Epoch("epoch-9"),
            source=made.source,
            source_hash=made.source_hash,
            document=made.document,
            sidecar=sidecar(4, questions=[question(questions=4)]),
            created_at=at(500),
        ),
        updates=(),
    )


@pytest.mark.parametrize(("through", "left"), [(0, [1, 2, 4]), (1, [2, 4]), (2, [4]), (3, [4]), (4, [])])
async def test_updates_after_it_stay(storage: Storage, lease: Lease, through: int, left: list[int]) -> None:
    before = await grown(storage, lease)

    await storage.collaboration.checkpoint(checkpoint(before, through=StorageSequence(through)), lease=lease)

    stored = await loaded(storage, before.channel)
    assert stored.snapshot is not None
    assert stored.snapshot.through == through
    assert stored.updates == tuple(update for update in before.updates if update.sequence in left)


async def test_the_copied_record_is_the_stored_one_and_does_not_follow_it(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    patch = SidecarPatch(head={"n": 5}, sections={"graph": {}}, removed=frozenset({"questions"}))
    await storage.collaboration.commit(commit(before.channel, 5, sidecar=patch), lease=lease)
    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, before.channel)), lease=lease)
    await storage.collaboration.commit(commit(before.channel, 6, sidecar=sidecar(6)), lease=lease)

    stored = await loaded(storage, before.channel)
    assert stored.snapshot is not None
    assert stored.snapshot.sidecar == SidecarRecord(head={"n": 5}, sections={"graph": {}})
    assert stored.sidecar == sidecar(6)


async def test_a_channel_without_a_snapshot_gets_its_first(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel, update=b"1", sidecar=sidecar()), lease=lease)

    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)

    stored = await loaded(storage, channel)
    assert stored.snapshot is not None
    assert (stored.snapshot.through, stored.snapshot.sidecar, stored.updates) == (1, sidecar(), ())


async def test_repeating_it_is_harmless(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)
    once = await loaded(storage, before.channel)

    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)

    assert await loaded(storage, before.channel) == once


async def test_a_repeat_of_other_content_replaces_it(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)

    await storage.collaboration.checkpoint(checkpoint(before, document=b"again", now=at(999)), lease=lease)

    stored = await loaded(storage, before.channel)
    assert stored.snapshot is not None
    assert (stored.snapshot.document, stored.snapshot.created_at) == (b"again", at(999))


async def test_an_archived_channel_is_accepted(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    archived = (await storage.channels.archive(before.channel.id, now=at(50))).channel

    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)

    stored = await loaded(storage, before.channel)
    assert (stored.channel, stored.updates) == (archived, ())


async def test_operations_stay_known(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)

    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)

    for number in (1, 2, 3, 4):
        kept = await storage.collaboration.operation(before.channel.id, OperationId(f"operation-{number}"))
        assert kept is not None
        assert (kept.revision, kept.sequence) == (number, number)


async def test_commits_go_on_after_it(storage: Storage, lease: Lease) -> None:
    before = await grown(storage, lease)
    await storage.collaboration.checkpoint(checkpoint(before), lease=lease)

    result = await storage.collaboration.commit(commit(before.channel, 5, update=b"5"), lease=lease)

    stored = await loaded(storage, before.channel)
    assert (result.revision, result.sequence) == (5, 5)
    assert [update.update for update in stored.updates] == [b"5"]


async def refused(
    storage: Storage, lease: Lease, stored: StoredChannel, error: StaleWrite | StaleCheckpoint, **changes: Any
) -> None:
    """The checkpoint is refused with exactly this error, and neither replaces nor drops anything."""
    before = await loaded(storage, stored.channel)

    with pytest.raises(type(error)) as caught:
        await storage.collaboration.checkpoint(checkpoint(stored, **changes), lease=lease)

    assert caught.value.args == error.args
    assert await loaded(storage, stored.channel) == before


async def test_one_of_another_revision_is_refused(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)

    for revision in (0, 3, 5, 10**6):
        await refused(storage, lease, stored, StaleWrite(revision, 4), revision=StorageRevision(revision))


async def test_one_made_before_the_last_commit_is_refused(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)
    await storage.collaboration.commit(commit(stored.channel, 5, update=b"just in time"), lease=lease)

    await refused(storage, lease, stored, StaleWrite(4, 5))


async def test_one_of_a_replaced_history_is_refused(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)
    await storage.collaboration.replace(replacement(stored.channel, 5), lease=lease)

    await refused(storage, lease, stored, StaleWrite(4, 5))
    await refused(storage, lease, stored, StaleCheckpoint(4, 5, 5), revision=StorageRevision(5))


async def test_one_beyond_the_latest_commit_is_refused(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)

    for through in (5, 10**6):
        await refused(storage, lease, stored, StaleCheckpoint(through, 0, 4), through=StorageSequence(through))


async def test_one_behind_the_stored_one_is_refused(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)
    await storage.collaboration.checkpoint(checkpoint(stored, through=StorageSequence(2)), lease=lease)

    for through in (0, 1):
        await refused(storage, lease, stored, StaleCheckpoint(through, 2, 4), through=StorageSequence(through))
    await storage.collaboration.checkpoint(checkpoint(stored, through=StorageSequence(2)), lease=lease)


async def test_a_channel_without_any_record_has_nothing_to_copy(storage: Storage, channel: Channel, lease: Lease) -> None:
    await refused(storage, lease, await loaded(storage, channel), StaleCheckpoint(0, 0, 0))

    await storage.collaboration.commit(commit(channel, 1, update=b"1"), lease=lease)
    await refused(storage, lease, await loaded(storage, channel), StaleCheckpoint(1, 0, 1))

    await storage.collaboration.commit(commit(channel, 2, sidecar=SidecarRecord(head=None)), lease=lease)
    await storage.collaboration.checkpoint(checkpoint(await loaded(storage, channel)), lease=lease)


async def test_an_unknown_channel_is_refused(storage: Storage, channel: Channel, lease: Lease) -> None:
    unknown = checkpoint(await loaded(storage, channel), channel_id=ChannelId("unknown"))

    with pytest.raises(ChannelMissing) as caught:
        await storage.collaboration.checkpoint(unknown, lease=lease)

    assert caught.value.channel_id == "unknown"


async def test_the_first_of_several_reasons_is_given(storage: Storage, lease: Lease) -> None:
    stored = await grown(storage, lease)
    wrong = checkpoint(stored, channel_id=ChannelId("unknown"), revision=StorageRevision(7), through=StorageSequence(9))

    with pytest.raises(LeaseLost):
        await storage.collaboration.checkpoint(wrong, lease=attrs.evolve(lease, owner="nobody"))
    with pytest.raises(ChannelMissing):
        await storage.collaboration.checkpoint(wrong, lease=lease)
    wrong = attrs.evolve(wrong, channel_id=stored.channel.id)
    with pytest.raises(StaleWrite):
        await storage.collaboration.checkpoint(wrong, lease=lease)
    wrong = attrs.evolve(wrong, revision=stored.channel.revision)
    with pytest.raises(StaleCheckpoint):
        await storage.collaboration.checkpoint(wrong, lease=lease)
