"""An operation is kept once, however often it is asked for."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import REPOSITORY, at, checkpoint, commit, creation, event, replacement, sidecar
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelMissing, LeaseLost, StaleWrite
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import Commit, CommitResult, Replacement, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.text import LONGEST_KEY

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")

FIRST = CommitResult(revision=StorageRevision(1), sequence=StorageSequence(1), repeated=True)


async def again(storage: Storage, asked: Commit | Replacement, lease: Lease) -> CommitResult:
    if isinstance(asked, Commit):
        return await storage.collaboration.commit(asked, lease=lease)
    return await storage.collaboration.replace(asked, lease=lease)


@pytest.fixture(params=[commit, replacement], ids=["commit", "replace"])
def kept(request: pytest.FixtureRequest, channel: Channel) -> Commit | Replacement:
    """The operation that is kept first and then repeated."""
    made: Commit | Replacement = request.param(channel)
    return made


async def test_a_repeat_is_answered_with_the_original_numbers(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    assert await again(storage, kept, lease) == attrs.evolve(FIRST, repeated=False)
    assert await again(storage, kept, lease) == FIRST

    for number in (2, 3):
        await storage.collaboration.commit(commit(channel, number), lease=lease)
    assert await again(storage, kept, lease) == FIRST


async def test_a_repeat_changes_nothing_whatever_it_carries(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    await again(storage, kept, lease)
    before = await storage.collaboration.load(channel.id)

    other = commit(
        channel,
        expected=StorageRevision(41),
        update=b"other",
        sidecar=sidecar(99),
        events=(event(), event()),
        title=TitleChange(title="Other"),
        now=at(99),
    )
    assert await again(storage, other, lease) == FIRST
    assert await again(storage, replacement(channel, expected=StorageRevision(41), document=b"other"), lease) == FIRST

    assert await storage.collaboration.load(channel.id) == before
    assert await storage.channels.resolve(REPOSITORY.id, "other") is None


async def test_a_repeat_is_answered_in_the_archive_too(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    await again(storage, kept, lease)
    await storage.channels.archive(channel.id, now=at(5))

    assert await again(storage, kept, lease) == FIRST


async def test_a_repeat_still_needs_the_lease(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    await again(storage, kept, lease)

    with pytest.raises(LeaseLost):
        await again(storage, kept, attrs.evolve(lease, owner="nobody"))


async def test_a_repeat_is_known_to_another_storage_and_under_another_lease(
    storage: Storage, connect: Connect, lease: Lease, expired: Lease, kept: Commit | Replacement
) -> None:
    await again(storage, kept, lease)
    other = await connect()
    taken = await other.leases.acquire(expired.name, "other", lease.expires_at - expired.expires_at)
    assert taken is not None

    assert await again(other, kept, taken) == FIRST


async def test_an_operation_outlives_checkpoints_and_replacements(storage: Storage, channel: Channel, lease: Lease) -> None:
    kept = commit(channel, update=b"1", sidecar=sidecar())
    await storage.collaboration.commit(kept, lease=lease)
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None

    await storage.collaboration.checkpoint(checkpoint(stored), lease=lease)
    assert await storage.collaboration.commit(kept, lease=lease) == FIRST

    await storage.collaboration.replace(replacement(channel, 2), lease=lease)
    assert await storage.collaboration.commit(kept, lease=lease) == FIRST
    assert await storage.collaboration.operation(channel.id, kept.operation_id) == FIRST


async def test_operation_ids_belong_to_their_channel(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("other"))
    await storage.collaboration.commit(commit(channel), lease=lease)

    assert await storage.collaboration.operation(other.id, commit(channel).operation_id) is None
    result = await storage.collaboration.commit(commit(other), lease=lease)

    assert not result.repeated


async def test_operation_ids_are_compared_exactly(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, id in enumerate(("op", "OP", "op ", "öp", "o\u0308p", "x" * LONGEST_KEY), start=1):
        made = commit(channel, number, operation_id=OperationId(id))
        assert not (await storage.collaboration.commit(made, lease=lease)).repeated
        assert (await storage.collaboration.commit(made, lease=lease)).revision == number


async def test_an_operation_can_be_looked_up(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    assert await storage.collaboration.operation(channel.id, kept.operation_id) is None

    await again(storage, kept, lease)
    await storage.collaboration.commit(commit(channel, 2), lease=lease)

    assert await storage.collaboration.operation(channel.id, kept.operation_id) == FIRST


async def test_an_operation_of_an_unknown_channel_was_not_kept(storage: Storage) -> None:
    assert await storage.collaboration.operation(ChannelId("unknown"), OperationId("operation-1")) is None


async def test_a_refused_operation_was_not_kept_and_may_be_asked_again(
    storage: Storage, channel: Channel, lease: Lease, kept: Commit | Replacement
) -> None:
    with pytest.raises(StaleWrite):
        await again(storage, attrs.evolve(kept, expected=StorageRevision(5)), lease)
    with pytest.raises(ChannelMissing):
        await again(storage, attrs.evolve(kept, channel_id=ChannelId("unknown")), lease)
    with pytest.raises(LeaseLost):
        await again(storage, kept, attrs.evolve(lease, owner="nobody"))

    assert await storage.collaboration.operation(channel.id, kept.operation_id) is None
    assert await again(storage, kept, lease) == attrs.evolve(FIRST, repeated=False)
