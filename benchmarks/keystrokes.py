"""A keystroke as storage gets it: sizes and shapes as a room makes them of one letter that somebody typed."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import Epoch, StorageRevision
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId, channel_id
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.ports.collaboration import Commit
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.sidecar import SidecarPatch, SidecarRecord
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase

ADA: Final = Person(id=UserId("local:ada"), login="ada")
REPOSITORY: Final = Repository(id=RepositoryId("R_kgDOBenchmark"), owner="octo", name="notes")
EPOCH: Final = Epoch("0192f0c1-5e00-7abc-8def-0123456789ab")
_LETTER: Final = bytes.fromhex("0101f8ac b0a80d 00c4 f8acb0a80d0a f8acb0a80d0b 0161 00")
"""A letter between two others, as Yjs sends it."""


@attrs.frozen(kw_only=True)
class Keystroke:
    """What becomes durable of one letter: at ``number`` in its channel, counted from 1."""

    channel_id: ChannelId
    number: int
    update: bytes
    operation_id: OperationId
    now: datetime

    @property
    def head(self) -> dict[str, int]:
        return {"version": 1, "documentSeq": self.number, "revision": self.number}

    def commit(self) -> Commit:
        return Commit(
            channel_id=self.channel_id,
            operation_id=self.operation_id,
            expected=StorageRevision(self.number - 1),
            epoch=EPOCH,
            now=self.now,
            update=self.update,
            sidecar=SidecarPatch(head=self.head),
        )


def keystroke(channel_id: ChannelId, number: int) -> Keystroke:
    update = number.to_bytes(4, "big") + _LETTER
    operation_id = OperationId(f"{EPOCH}:{hashlib.sha256(update).hexdigest()}")
    return Keystroke(channel_id=channel_id, number=number, update=update, operation_id=operation_id, now=datetime.now(UTC))


@asynccontextmanager
async def writing(database: ScratchDatabase) -> AsyncIterator[tuple[PgStorage, Lease]]:
    """A storage on the database, and the lease to write under."""
    async with await database.connect() as storage:
        await storage.users.put(ADA, now=datetime.now(UTC))
        lease = await storage.leases.acquire(WRITER, "benchmarks", timedelta(minutes=10))
        assert lease is not None, "nobody else uses this database"
        yield storage, lease
        await storage.leases.release(lease)


async def new_channel(storage: PgStorage, name: str, sidecar: SidecarRecord | None = None) -> Channel:
    """An empty document, with its first checkpoint as a room writes it."""
    head = {"version": 1, "documentSeq": 0, "revision": 0}
    return await storage.channels.create(
        ChannelCreate(
            id=channel_id(REPOSITORY.id, name),
            repository=REPOSITORY,
            title=name,
            created_by=ADA.id,
            now=datetime.now(UTC),
            initial=Initial(
                generation="g",
                epoch=EPOCH,
                source="\n",
                source_hash="sha256:" + hashlib.sha256(b"\n").hexdigest(),
                document=bytes(2),
                sidecar=sidecar or SidecarRecord(head=head),
            ),
        )
    )
