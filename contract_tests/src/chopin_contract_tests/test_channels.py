"""Channels are created wholly or not at all, and found by id."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest

from chopin_contract_tests.builders import AUTHOR, ELSEWHERE, REPOSITORY, T0, at, creation, initial, question, sidecar
from chopin_contract_tests.conftest import Connect
from chopin_core.channel import Channel, TitlePolicy
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import ChannelExists, ChannelMissing, Conflict, Missing, ParentUnfit, TitleTaken, UserMissing
from chopin_core.ids import ChannelId, UserId
from chopin_core.ports.collaboration import Snapshot, StoredChannel
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")

UNKNOWN = ChannelId("unknown")


async def test_a_new_channel_starts_at_revision_0_with_its_slug(storage: Storage) -> None:
    created = await storage.channels.create(creation(title="A Plan: the First"))

    assert created == Channel(
        id=ChannelId("channel-1"),
        repository=REPOSITORY,
        title="A Plan: the First",
        slug="a-plan-the-first",
        created_by=AUTHOR.id,
        revision=StorageRevision(0),
        created_at=T0,
        updated_at=T0,
        parent_id=None,
        archived_at=None,
        description=None,
        unanswered_decisions=0,
    )
    assert await storage.channels.get(created.id) == created


async def test_an_unknown_channel_is_none(storage: Storage, channel: Channel) -> None:
    assert await storage.channels.get(UNKNOWN) is None


async def test_ids_are_compared_exactly(storage: Storage, channel: Channel) -> None:
    assert await storage.channels.get(ChannelId(channel.id.upper())) is None
    assert await storage.channels.get(ChannelId(channel.id + " ")) is None


async def test_another_storage_on_the_same_data_finds_the_channel(storage: Storage, connect: Connect, channel: Channel) -> None:
    assert await (await connect()).channels.get(channel.id) == channel


async def test_a_channel_without_initial_document_has_no_history(storage: Storage, channel: Channel) -> None:
    assert await storage.collaboration.load(channel.id) == StoredChannel(
        channel=channel, latest=StorageSequence(0), snapshot=None, updates=(), events=(), sidecar=None
    )


async def test_an_initial_document_is_the_checkpoint_at_revision_0(storage: Storage) -> None:
    record = sidecar(0, creation={"brief": {}, "origin": {}}, questions=[question(questions=3)])
    begun = initial(sidecar=record, document=bytes(range(256)), source="# Begun\n\ntext\n")

    created = await storage.channels.create(creation(initial=begun, now=at(7)))

    assert created.unanswered_decisions == 3
    assert await storage.collaboration.load(created.id) == StoredChannel(
        channel=created,
        latest=StorageSequence(0),
        snapshot=Snapshot(
            generation=begun.generation,
            revision=StorageRevision(0),
            through=StorageSequence(0),
            epoch=begun.epoch,
            source=begun.source,
            source_hash=begun.source_hash,
            document=begun.document,
            sidecar=record,
            created_at=at(7),
        ),
        updates=(),
        events=(),
        sidecar=record,
    )


async def test_a_title_is_kept_as_given(storage: Storage) -> None:
    for number, title in enumerate(("  two  spaces ", "", "line\nbreak", "'; DROP TABLE channels; --", "%_\\")):
        created = await storage.channels.create(creation(f"channel-{number}", title=title))

        found = await storage.channels.get(created.id)

        assert found is not None
        assert found.title == title


async def test_instants_come_back_in_utc_to_the_microsecond(storage: Storage) -> None:
    created = await storage.channels.create(creation(now=T0.astimezone(timezone(-timedelta(hours=8)))))
    found = await storage.channels.get(created.id)

    assert found is not None
    for instant in (created.created_at, created.updated_at, found.created_at, found.updated_at):
        assert instant.isoformat() == "2026-01-05T09:30:00.123456+00:00"


async def test_a_child_knows_its_parent(storage: Storage, channel: Channel) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))

    assert child.parent_id == channel.id
    assert await storage.channels.get(child.id) == child
    assert await storage.channels.get(channel.id) == channel


async def test_an_archived_parent_is_accepted(storage: Storage, channel: Channel) -> None:
    await storage.channels.archive(channel.id, now=at(1))

    child = await storage.channels.create(creation("child", parent_id=channel.id))

    assert child.parent_id == channel.id
    assert not child.archived


async def refused(storage: Storage, error: Missing | Conflict, **changes: Any) -> None:
    """The creation of ``new`` is refused with exactly this error, and of it nothing is left, not even its slug."""
    with pytest.raises(type(error)) as caught:
        await storage.channels.create(creation(**{"id": "new", "title": "New", **changes}))

    assert caught.value.args == error.args
    assert await storage.channels.get(ChannelId("new")) is None
    assert await storage.collaboration.load(ChannelId("new")) is None
    assert await storage.channels.resolve(REPOSITORY.id, "new") is None
    after = await storage.channels.create(creation("after", title="New"))
    assert after.slug == "new"


async def test_a_missing_parent_is_refused(storage: Storage) -> None:
    await refused(storage, ChannelMissing(UNKNOWN), parent_id=UNKNOWN, initial=initial())


async def test_a_parent_of_another_repository_is_refused(storage: Storage) -> None:
    other = await storage.channels.create(creation("other", repository=ELSEWHERE))

    await refused(storage, ParentUnfit(other.id), parent_id=other.id, initial=initial())


async def test_a_grandchild_is_refused(storage: Storage, channel: Channel) -> None:
    child = await storage.channels.create(creation("child", parent_id=channel.id))

    await refused(storage, ParentUnfit(child.id), parent_id=child.id, initial=initial())


async def test_an_unknown_creator_is_refused(storage: Storage) -> None:
    await refused(storage, UserMissing(UserId("nobody")), created_by=UserId("nobody"), initial=initial())


async def test_a_title_that_must_be_unique_and_is_not_is_refused(storage: Storage) -> None:
    await storage.channels.create(creation("first", title="NEW?"))

    with pytest.raises(TitleTaken) as caught:
        await storage.channels.create(creation("new", title="new?", titles=TitlePolicy.UNIQUE, initial=initial()))

    assert caught.value.title == "new?"
    assert await storage.channels.get(ChannelId("new")) is None
    assert await storage.collaboration.load(ChannelId("new")) is None
    after = await storage.channels.create(creation("after", title="New"))
    assert after.slug == "new-2"


async def test_an_id_in_use_is_refused_and_its_channel_left_alone(storage: Storage) -> None:
    first = await storage.channels.create(creation(title="First", initial=initial(document=b"first")))
    before = await storage.collaboration.load(first.id)

    for repository in (REPOSITORY, ELSEWHERE):
        with pytest.raises(ChannelExists) as caught:
            await storage.channels.create(creation(title="Second", repository=repository, initial=initial(), now=at(9)))

        assert caught.value.channel_id == first.id
        assert await storage.channels.resolve(repository.id, "second") is None
    assert await storage.collaboration.load(first.id) == before


async def test_the_first_of_several_reasons_is_given(storage: Storage, channel: Channel) -> None:
    other = await storage.channels.create(creation("other", repository=ELSEWHERE))
    wrong: dict[str, Any] = {
        "parent_id": UNKNOWN,
        "created_by": UserId("nobody"),
        "id": channel.id,
        "title": channel.title,
        "titles": TitlePolicy.UNIQUE,
    }
    for error, mended in (
        (ChannelMissing, {"parent_id": other.id}),
        (ParentUnfit, {"parent_id": None}),
        (UserMissing, {"created_by": AUTHOR.id}),
        (ChannelExists, {"id": ChannelId("new")}),
        (TitleTaken, {"title": "Free"}),
    ):
        with pytest.raises(error):
            await storage.channels.create(creation(**wrong))
        wrong |= mended

    await storage.channels.create(creation(**wrong))
