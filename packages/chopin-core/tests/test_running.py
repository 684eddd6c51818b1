"""What a process does before it serves anybody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.counters import Epoch, StorageRevision
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId
from chopin_core.jsonvalue import Json
from chopin_core.memory.storage import MemoryStorage
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate
from chopin_core.ports.collaboration import Commit
from chopin_core.ports.leases import WRITER
from chopin_core.running import running
from chopin_core.sidecar import SidecarRecord

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
REPOSITORY = Repository(id=RepositoryId("R"), owner="octo", name="notes")


async def channel(storage: MemoryStorage, id: str, parent: str | None = None) -> Channel:
    return await storage.channels.create(
        ChannelCreate(
            id=ChannelId(id),
            repository=REPOSITORY,
            title=id,
            created_by=UserId("ada"),
            now=NOW,
            parent_id=None if parent is None else ChannelId(parent),
        )
    )


async def chatted(storage: MemoryStorage, id: str, **sections: Json) -> None:
    lease = await storage.leases.acquire("before", "tests", timedelta(minutes=1))
    assert lease is not None
    record = SidecarRecord(head=None, sections={"transcript": ["Hello"], **sections})
    commit = Commit(
        channel_id=ChannelId(id),
        operation_id=OperationId("chat"),
        expected=StorageRevision(0),
        epoch=Epoch("e"),
        now=NOW,
        sidecar=record,
    )
    await storage.collaboration.commit(commit, lease=lease)


async def transcript(storage: MemoryStorage, id: str) -> Json:
    stored = await storage.collaboration.load(ChannelId(id))
    assert stored is not None and stored.sidecar is not None
    return stored.sidecar.sections["transcript"]


@pytest.fixture
async def storage() -> MemoryStorage:
    storage = MemoryStorage()
    await storage.users.put(Person(id=UserId("ada"), login="ada"), now=NOW)
    return storage


async def test_children_are_cleared_of_conversations_before_a_room_can_open(storage: MemoryStorage) -> None:
    for id, parent in (("parent", None), ("child", "parent"), ("cited", "parent")):
        await channel(storage, id, parent)
        await chatted(storage, id, **({"questions": [{"threadId": "t"}]} if id == "cited" else {}))
    told: list[ChannelId] = []

    async with running(storage, PycrdtEngine(), owner="test", cited=told.extend):
        assert await transcript(storage, "child") == []
        assert await transcript(storage, "parent") == ["Hello"]
        assert await transcript(storage, "cited") == ["Hello"]
    assert told == ["cited"]


async def test_a_process_that_fails_at_its_start_lets_the_lease_go(storage: MemoryStorage) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("a fault of the embedder")

    await channel(storage, "parent")
    await channel(storage, "cited", "parent")
    await chatted(storage, "cited", questions=[{"threadId": "t"}])
    with pytest.raises(RuntimeError):
        async with running(storage, PycrdtEngine(), owner="test", cited=broken):
            pass
    assert await storage.leases.holder(WRITER) is None
