"""What may be asked of the stores around a channel at all, and what they give away of secrets."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from chopin_core.counters import LARGEST, AgentGeneration, CredentialRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, JobId, MachineId, SessionId, UserId
from chopin_core.ports.agents import Agent, AgentContext, AgentStatus
from chopin_core.ports.images import LARGEST_IMAGE, Image, ImageType
from chopin_core.ports.jobs import JobCursor
from chopin_core.ports.machines import MachineCredentials, Pairing
from chopin_core.ports.web_sessions import Credentials, WebSession

NOW = datetime(2026, 1, 5, tzinfo=UTC)
NAIVE = datetime(2026, 1, 5)
SECRET = b"secret that nobody may read"

CREDENTIALS = Credentials(secret_hash=SECRET, ciphertext=SECRET)
SESSION = WebSession(id=SessionId("session"), user_id=UserId("user"), expires_at=NOW, created_at=NOW, credentials=CREDENTIALS)
PAIRING = Pairing(id=MachineId("machine"), owner=UserId("user"), label="Laptop", token_hash=SECRET, ciphertext=SECRET, now=NOW)
CONTEXT = AgentContext(summary="", transcript_cursor=0, status=AgentStatus.READY, now=NOW)
IMAGE = Image(channel_id=ChannelId("channel"), type=ImageType.PNG, content=SECRET, uploaded_by=UserId("user"), created_at=NOW)


@pytest.mark.parametrize("value", [CREDENTIALS, SESSION, PAIRING, MachineCredentials(ciphertext=SECRET), IMAGE])
def test_what_is_secret_or_large_is_in_no_representation(value: object) -> None:
    assert "secret" not in repr(value).replace("secret_hash", "")


@pytest.mark.parametrize("make", [lambda revision: attrs.evolve(CREDENTIALS, revision=revision),
                                  lambda revision: MachineCredentials(ciphertext=b"", revision=revision)])  # fmt: skip
def test_a_revision_of_credentials_counts_from_1(make: Any) -> None:
    for revision in (1, LARGEST):
        assert make(CredentialRevision(revision)).revision == revision
    for revision in (0, -1, LARGEST + 1):
        with pytest.raises(InvalidField) as caught:
            make(CredentialRevision(revision))
        assert caught.value.field == "revision"


def test_credentials_begin_at_1() -> None:
    assert CREDENTIALS.revision == MachineCredentials(ciphertext=b"").revision == 1


@pytest.mark.parametrize(
    ("value", "field"),
    [(SESSION, "expires_at"), (SESSION, "created_at"), (PAIRING, "now"), (CONTEXT, "now"), (IMAGE, "created_at")],
)
def test_instants_say_their_offset(value: Any, field: str) -> None:
    changes: dict[str, Any] = {field: NAIVE}

    with pytest.raises(InvalidField) as caught:
        attrs.evolve(value, **changes)
    assert caught.value.field == field


def test_a_cursor_is_of_an_instant_and_an_id_that_could_be_kept() -> None:
    for at, id in ((NAIVE, "job"), (NOW, "a\0b"), (NOW, "\ud800")):
        with pytest.raises(InvalidField):
            JobCursor(at=at, id=JobId(id))


@pytest.mark.parametrize("cursor", [-1, LARGEST + 1])
def test_a_transcript_cursor_is_a_counter(cursor: int) -> None:
    assert attrs.evolve(CONTEXT, transcript_cursor=LARGEST).transcript_cursor == LARGEST
    with pytest.raises(InvalidField) as caught:
        attrs.evolve(CONTEXT, transcript_cursor=cursor)
    assert caught.value.field == "transcript_cursor"


@pytest.mark.parametrize("size", [0, LARGEST_IMAGE + 1])
def test_an_image_has_at_least_a_byte_and_at_most_a_mebibyte(size: int) -> None:
    with pytest.raises(InvalidField) as caught:
        attrs.evolve(IMAGE, content=b"x" * size)
    assert caught.value.field == "content"


def test_the_hash_of_an_image_is_computed_and_never_believed() -> None:
    for content in (b"x", b"y" * LARGEST_IMAGE):
        assert attrs.evolve(IMAGE, content=content).sha256 == hashlib.sha256(content).hexdigest()
    believed: dict[str, Any] = {"sha256": "0" * 64}
    with pytest.raises(TypeError):
        attrs.evolve(IMAGE, **believed)


def test_an_agent_is_seen_with_its_owner_until_the_session_ends() -> None:
    agent = Agent(
        channel_id=ChannelId("channel"),
        owner=SessionId("session"),
        owner_until=NOW,
        generation=AgentGeneration(3),
        summary="so far",
        transcript_cursor=7,
        status=AgentStatus.READY,
        updated_at=NOW,
    )
    before = NOW.replace(year=2025)

    assert agent.at(before) is agent
    seen = agent.at(NOW)
    assert (seen.owner, seen.owner_until, seen.status) == (None, None, AgentStatus.UNAVAILABLE)
    assert (seen.generation, seen.summary, seen.transcript_cursor, seen.updated_at) == (3, "so far", 7, NOW)
    assert seen.at(before) == seen
