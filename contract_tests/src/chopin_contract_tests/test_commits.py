"""A commit is kept as a whole under the next revision and sequence, or refused and leaves nothing."""

from __future__ import annotations

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, REPOSITORY, at, commit, creation, event, initial, sidecar
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.counters import Epoch, StorageRevision, StorageSequence
from chopin_core.errors import ChannelArchived, ChannelMissing, EventRepeated, InvalidField, LeaseLost, StaleWrite, TitleTaken
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import Commit, CommitResult, StoredUpdate, TitleChange
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarRecord

STORE = "collaboration"
pytestmark = pytest.mark.asyncio(loop_scope="function")


def kept_at(number: int, *, repeated: bool = False) -> CommitResult:
    return CommitResult(revision=StorageRevision(number), sequence=StorageSequence(number), repeated=repeated)


async def test_revision_and_sequence_move_by_one_each(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number in (1, 2, 3):
        assert await storage.collaboration.commit(commit(channel, number, update=b"x"), lease=lease) == kept_at(number)

    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert (stored.channel.revision, stored.latest) == (3, 3)


async def test_an_empty_commit_is_a_commit(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await storage.collaboration.load(channel.id)
    assert before is not None

    assert await storage.collaboration.commit(commit(channel, now=at(5)), lease=lease) == kept_at(1)

    moved = attrs.evolve(channel, revision=StorageRevision(1), updated_at=at(5))
    assert await storage.collaboration.load(channel.id) == attrs.evolve(before, channel=moved, latest=StorageSequence(1))


async def test_the_journal_keeps_every_update_with_its_place_and_its_epoch(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    for number, epoch in ((1, "epoch-b"), (2, "epoch-a"), (3, "epoch-a")):
        update = commit(channel, number, update=b"update %d" % number, epoch=Epoch(epoch))
        await storage.collaboration.commit(update, lease=lease)

    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert stored.updates == tuple(
        StoredUpdate(
            sequence=StorageSequence(number),
            revision=StorageRevision(number),
            epoch=Epoch(epoch),
            update=b"update %d" % number,
        )
        for number, epoch in ((1, "epoch-b"), (2, "epoch-a"), (3, "epoch-a"))
    )


async def test_commits_without_an_update_leave_gaps_in_the_journal(storage: Storage, channel: Channel, lease: Lease) -> None:
    for number, changes in ((1, {"update": b"1"}), (2, {"sidecar": sidecar()}), (3, {}), (4, {"update": b"4"})):
        await storage.collaboration.commit(commit(channel, number, **changes), lease=lease)

    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert [(kept.sequence, kept.revision, kept.update) for kept in stored.updates] == [(1, 1, b"1"), (4, 4, b"4")]
    assert stored.latest == 4


@pytest.mark.parametrize("update", [b"", bytes(range(256)), b"\0" * 3, bytes(2_000_000)], ids=["none", "all", "NULs", "2 MB"])
async def test_any_bytes_are_kept(storage: Storage, channel: Channel, lease: Lease, update: bytes) -> None:
    await storage.collaboration.commit(commit(channel, update=update), lease=lease)

    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert [kept.update for kept in stored.updates] == [update]


async def test_channels_count_apart(storage: Storage, channel: Channel, lease: Lease) -> None:
    other = await storage.channels.create(creation("other"))
    await storage.collaboration.commit(commit(channel, 1, update=b"1"), lease=lease)
    before = await storage.collaboration.load(channel.id)

    assert await storage.collaboration.commit(commit(other, 1, update=b"other"), lease=lease) == kept_at(1)

    assert await storage.collaboration.load(channel.id) == before


async def test_the_activity_time_is_the_later_of_the_stored_one_and_now(
    storage: Storage, channel: Channel, lease: Lease
) -> None:
    seen = []
    for number, seconds in ((1, 5), (2, -60), (3, 5), (4, 7)):
        await storage.collaboration.commit(commit(channel, number, now=at(seconds)), lease=lease)
        found = await storage.channels.get(channel.id)
        seen.append(found and found.updated_at)

    assert seen == [at(5), at(5), at(5), at(7)]


async def test_a_stale_commit_is_refused_and_leaves_nothing(storage: Storage, lease: Lease) -> None:
    channel = await storage.channels.create(creation(initial=initial()))
    for number in (1, 2):
        await storage.collaboration.commit(commit(channel, number, update=b"1", sidecar=sidecar(number)), lease=lease)
    before = await storage.collaboration.load(channel.id)

    for expected in (0, 1, 3, 10**6):
        full = Commit(
            channel_id=channel.id,
            operation_id=OperationId("late"),
            expected=StorageRevision(expected),
            epoch=Epoch("epoch-0"),
            now=at(99),
            update=b"late",
            sidecar=sidecar(99),
            events=(event("late"),),
            title=TitleChange(title="Late"),
        )
        with pytest.raises(StaleWrite) as caught:
            await storage.collaboration.commit(full, lease=lease)

        assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert await storage.collaboration.operation(channel.id, full.operation_id) is None
        assert await storage.channels.resolve(REPOSITORY.id, "late") is None
    assert await storage.collaboration.load(channel.id) == before
    assert await storage.collaboration.commit(commit(channel, 3, operation_id=OperationId("late")), lease=lease) == kept_at(3)


async def test_a_commit_to_an_unknown_channel_is_refused(storage: Storage, channel: Channel, lease: Lease) -> None:
    with pytest.raises(ChannelMissing) as caught:
        await storage.collaboration.commit(commit(channel, channel_id=ChannelId("unknown")), lease=lease)

    assert caught.value.channel_id == "unknown"


async def test_an_archived_channel_takes_no_commit(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.archive(channel.id, now=at(1))
    before = await storage.collaboration.load(channel.id)

    for changes in ({}, {"update": b"late"}, {"sidecar": sidecar()}, {"title": TitleChange(title="Late")}):
        with pytest.raises(ChannelArchived) as caught:
            await storage.collaboration.commit(commit(channel, now=at(9), **changes), lease=lease)
        assert caught.value.channel_id == channel.id

    assert await storage.collaboration.load(channel.id) == before


@pytest.mark.parametrize("archived", [True, False], ids=["archived", "active"])
@pytest.mark.parametrize("record", [sidecar(5), None], ids=["sidecar", "nothing"])
async def test_a_sidecar_alone_may_be_allowed_in_spite_of_the_archive(
    storage: Storage, channel: Channel, lease: Lease, archived: bool, record: SidecarRecord | None
) -> None:
    if archived:
        await storage.channels.archive(channel.id, now=at(1))

    allowed = commit(channel, now=at(2), allow_archived=True, sidecar=record)
    assert await storage.collaboration.commit(allowed, lease=lease) == kept_at(1)

    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert (stored.sidecar, stored.channel.archived, stored.channel.updated_at) == (record, archived, at(2))


async def test_a_title_becomes_durable_with_the_rest(storage: Storage, channel: Channel, lease: Lease) -> None:
    renaming = commit(channel, update=b"1", title=TitleChange(title="Renamed"), now=at(4))

    await storage.collaboration.commit(renaming, lease=lease)

    after = attrs.evolve(channel, title="Renamed", slug="renamed", revision=StorageRevision(1), updated_at=at(4))
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    assert (stored.channel, len(stored.updates)) == (after, 1)
    assert await storage.channels.resolve(REPOSITORY.id, "renamed") == after
    assert await storage.channels.resolve(REPOSITORY.id, channel.slug) == after


async def test_a_title_in_a_commit_follows_the_slug_rules(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.create(creation("other", title="Taken"))
    slugs = []
    for number, title in enumerate(("Taken", "Third", "taken!", "Third"), start=1):
        await storage.collaboration.commit(commit(channel, number, title=TitleChange(title=title)), lease=lease)
        found = await storage.channels.get(channel.id)
        slugs.append(found and found.slug)

    assert slugs == ["taken-2", "third", "taken-2", "third"]


async def test_a_unique_title_that_is_taken_refuses_the_whole_commit(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.create(creation("other", title="Taken"))
    before = await storage.collaboration.load(channel.id)
    change = TitleChange(title="TAKEN", titles=TitlePolicy.UNIQUE)
    full = commit(channel, update=b"1", sidecar=sidecar(), events=(event(),), title=change)

    with pytest.raises(TitleTaken) as caught:
        await storage.collaboration.commit(full, lease=lease)

    assert caught.value.title == "TAKEN"
    assert await storage.collaboration.load(channel.id) == before
    assert await storage.collaboration.operation(channel.id, full.operation_id) is None


@pytest.mark.parametrize("policy", TitlePolicy)
async def test_the_same_title_in_a_commit_changes_nothing_about_it(
    storage: Storage, channel: Channel, lease: Lease, policy: TitlePolicy
) -> None:
    await storage.channels.create(creation("other", title=channel.title))
    same = TitleChange(title=channel.title, titles=policy)

    await storage.collaboration.commit(commit(channel, title=same, now=channel.updated_at), lease=lease)

    assert await storage.channels.get(channel.id) == attrs.evolve(channel, revision=StorageRevision(1))


async def test_a_value_that_is_no_json_is_refused_and_leaves_nothing(storage: Storage, channel: Channel, lease: Lease) -> None:
    before = await storage.collaboration.load(channel.id)

    for value in (float("nan"), [float("inf")], {"deep": [-float("inf")]}):
        for changes in ({"sidecar": sidecar(1, graph=value)}, {"events": (event(payload=value),)}):
            with pytest.raises(InvalidField):
                await storage.collaboration.commit(commit(channel, update=b"1", **changes), lease=lease)

    assert await storage.collaboration.load(channel.id) == before


async def test_the_first_of_several_reasons_is_given(storage: Storage, channel: Channel, lease: Lease) -> None:
    await storage.channels.create(creation("other", title="Taken", created_by=AUTHOR.id))
    await storage.collaboration.commit(commit(channel, events=(event("used"),)), lease=lease)
    await storage.channels.archive(channel.id, now=at(1))
    wrong = commit(
        channel,
        channel_id=ChannelId("unknown"),
        operation_id=OperationId("new"),
        expected=StorageRevision(7),
        title=TitleChange(title="Taken", titles=TitlePolicy.UNIQUE),
        events=(event("used"),),
    )

    with pytest.raises(LeaseLost):
        await storage.collaboration.commit(wrong, lease=attrs.evolve(lease, owner="nobody"))
    with pytest.raises(ChannelMissing):
        await storage.collaboration.commit(wrong, lease=lease)
    wrong = attrs.evolve(wrong, channel_id=channel.id)
    with pytest.raises(ChannelArchived):
        await storage.collaboration.commit(wrong, lease=lease)
    await storage.channels.restore(channel.id, now=at(2))
    with pytest.raises(StaleWrite):
        await storage.collaboration.commit(wrong, lease=lease)
    wrong = attrs.evolve(wrong, expected=StorageRevision(1))
    with pytest.raises(TitleTaken):
        await storage.collaboration.commit(wrong, lease=lease)
    wrong = attrs.evolve(wrong, title=None)
    with pytest.raises(EventRepeated):
        await storage.collaboration.commit(wrong, lease=lease)
    assert await storage.collaboration.commit(attrs.evolve(wrong, events=()), lease=lease) == kept_at(2)
