"""Valid values, to be changed in the one respect that a test is about."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import Epoch, StorageRevision, StorageSequence
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.ports.collaboration import Checkpoint, Commit, Event, Replacement
from chopin_core.sidecar import SidecarRecord

NOW: Final = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
ADA: Final = Person(id=UserId("ada"), login="ada")
REPOSITORY: Final = Repository(id=RepositoryId("R_1"), owner="octo", name="notes")
SIDECAR: Final = SidecarRecord(head={"version": 1, "documentSeq": 1, "revision": 1}, sections={"creation": {"brief": "b"}})


def creation(id: str, **changes: Any) -> ChannelCreate:
    plain = ChannelCreate(id=ChannelId(id), repository=REPOSITORY, title=f"Title of {id}", created_by=ADA.id, now=NOW)
    return attrs.evolve(plain, **changes)


def initial() -> Initial:
    return Initial(generation="g0", epoch=Epoch("e0"), source="", source_hash="h0", document=b"0", sidecar=SIDECAR)


def commit(channel: Channel, **changes: Any) -> Commit:
    plain = Commit(
        channel_id=channel.id,
        operation_id=OperationId(secrets.token_hex(8)),
        expected=StorageRevision(0),
        epoch=Epoch("e0"),
        now=NOW,
        update=b"update",
        sidecar=SIDECAR,
    )
    return attrs.evolve(plain, **changes)


def event(id: str) -> Event:
    return Event(id=id, kind="happened", payload=None, created_at=NOW)


def replacement(channel: Channel, **changes: Any) -> Replacement:
    plain = Replacement(
        channel_id=channel.id,
        operation_id=OperationId(secrets.token_hex(8)),
        expected=StorageRevision(0),
        epoch=Epoch("e1"),
        now=NOW,
        generation="g1",
        source="# New\n",
        source_hash="h1",
        document=b"1",
        sidecar=SIDECAR,
    )
    return attrs.evolve(plain, **changes)


def checkpoint(channel: Channel, **changes: Any) -> Checkpoint:
    plain = Checkpoint(
        channel_id=channel.id,
        revision=StorageRevision(0),
        through=StorageSequence(0),
        epoch=Epoch("e0"),
        now=NOW,
        generation="g1",
        source="",
        source_hash="h1",
        document=b"1",
    )
    return attrs.evolve(plain, **changes)
