"""Valid values, to be changed in the one respect that a test is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import CredentialRevision, Epoch, StorageRevision, StorageSequence
from chopin_core.ids import ChannelId, MachineId, OperationId, RepositoryId, SessionId, UserId
from chopin_core.jsonvalue import Json
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.ports.collaboration import Checkpoint, Commit, Event, Replacement, StoredChannel
from chopin_core.ports.images import Image, ImageType
from chopin_core.ports.machines import Pairing
from chopin_core.ports.web_sessions import Credentials, WebSession
from chopin_core.sidecar import SidecarRecord

T0: Final = datetime(2026, 1, 5, 9, 30, 0, 123456, tzinfo=UTC)
"""When most things happen. Storage's own clock is far from it, so that mixing the two shows."""

AUTHOR: Final = Person(id=UserId("user-1"), login="ada", avatar_url="https://example.org/ada.png")
READER: Final = Person(id=UserId("user-2"), login="grace")
"""Somebody else; a test that needs them puts them."""

REPOSITORY: Final = Repository(id=RepositoryId("R_1"), owner="octo", name="notes")
ELSEWHERE: Final = Repository(id=RepositoryId("R_2"), owner="octo", name="other")


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def creation(id: str = "channel-1", **changes: Any) -> ChannelCreate:
    """A channel to create; its title is made of its id, so that two do not collide by accident."""
    plain = ChannelCreate(id=ChannelId(id), repository=REPOSITORY, title=f"Title of {id}", created_by=AUTHOR.id, now=T0)
    return attrs.evolve(plain, **changes)


def initial(**changes: Any) -> Initial:
    plain = Initial(
        generation="generation-0",
        epoch=Epoch("epoch-0"),
        source="# Begun\n",
        source_hash="sha256:0",
        document=b"document 0",
        sidecar=sidecar(0),
    )
    return attrs.evolve(plain, **changes)


def sidecar(number: int = 1, **sections: Json) -> SidecarRecord:
    """A record whose head tells it from the others."""
    return SidecarRecord(head={"version": 1, "documentSeq": number, "revision": number}, sections=sections)


def question(status: str = "open", *, questions: int = 1, answers: Json = None) -> Json:
    """A question record with the questions ``q1``, ``q2`` …"""
    asked = [{"id": f"q{number}"} for number in range(1, questions + 1)]
    return {"status": status, "definition": {"questions": asked}, "answers": answers}


def event(id: str = "event-1", **changes: Any) -> Event:
    return attrs.evolve(Event(id=id, kind="noted", payload={"of": id}, created_at=T0), **changes)


def commit(channel: Channel, number: int = 1, **changes: Any) -> Commit:
    """The ``number``-th commit of a channel that was new; it carries nothing unless told so."""
    plain = Commit(
        channel_id=channel.id,
        operation_id=OperationId(f"operation-{number}"),
        expected=StorageRevision(number - 1),
        epoch=Epoch("epoch-0"),
        now=at(number),
    )
    return attrs.evolve(plain, **changes)


def replacement(channel: Channel, number: int = 1, **changes: Any) -> Replacement:
    """The ``number``-th operation of a channel that was new, as a replacement."""
    plain = Replacement(
        channel_id=channel.id,
        operation_id=OperationId(f"operation-{number}"),
        expected=StorageRevision(number - 1),
        epoch=Epoch(f"epoch-{number}"),
        now=at(number),
        generation=f"generation-{number}",
        source=f"# Replaced at {number}\n",
        source_hash=f"sha256:{number}",
        document=b"document %d" % number,
        sidecar=sidecar(number),
    )
    return attrs.evolve(plain, **changes)


def checkpoint(stored: StoredChannel, **changes: Any) -> Checkpoint:
    """A checkpoint of everything that is stored."""
    plain = Checkpoint(
        channel_id=stored.channel.id,
        revision=stored.channel.revision,
        through=StorageSequence(stored.latest),
        epoch=Epoch("epoch-0"),
        now=at(60 + stored.latest),
        generation=f"generation of {stored.latest}",
        source=f"# As of {stored.latest}\n",
        source_hash=f"sha256:of {stored.latest}",
        document=b"document of %d" % stored.latest,
    )
    return attrs.evolve(plain, **changes)


def credentials(number: int = 1) -> Credentials:
    """The credentials at revision ``number``."""
    return Credentials(secret_hash=b"hash %d" % number, ciphertext=b"cipher %d" % number, revision=CredentialRevision(number))


def web_session(id: str = "session-1", **changes: Any) -> WebSession:
    """Somebody who signed in, for an hour."""
    plain = WebSession(id=SessionId(id), user_id=AUTHOR.id, expires_at=at(3600), created_at=T0, credentials=credentials())
    return attrs.evolve(plain, **changes)


def pairing(id: str = "machine-1", **changes: Any) -> Pairing:
    """A machine to pair; its token is made of its id, so that two do not collide by accident."""
    plain = Pairing(
        id=MachineId(id),
        owner=AUTHOR.id,
        label=f"Label of {id}",
        token_hash=sha256(id.encode("utf-8", "surrogatepass")).digest(),
        now=T0,
    )
    return attrs.evolve(plain, **changes)


def image(channel: Channel, content: bytes = b"pixels", **changes: Any) -> Image:
    plain = Image(channel_id=channel.id, type=ImageType.PNG, content=content, uploaded_by=AUTHOR.id, created_at=T0)
    return attrs.evolve(plain, **changes)
