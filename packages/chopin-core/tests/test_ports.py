"""What may be asked of storage at all, before any adapter sees it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from chopin_core.channel import TitlePolicy
from chopin_core.counters import Epoch, StorageRevision
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId
from chopin_core.people import Repository
from chopin_core.ports.channels import ChannelCreate, Cursor
from chopin_core.ports.collaboration import Commit, Event, TitleChange
from chopin_core.sidecar import SidecarPatch, SidecarRecord

NOW = datetime(2026, 1, 5, tzinfo=UTC)

COMMIT = Commit(
    channel_id=ChannelId("channel"),
    operation_id=OperationId("operation"),
    expected=StorageRevision(0),
    epoch=Epoch("epoch"),
    now=NOW,
)


@pytest.mark.parametrize("sidecar", [None, SidecarRecord(head=None), SidecarPatch(head=None)], ids=["none", "whole", "patch"])
def test_a_sidecar_alone_may_be_allowed_into_the_archive(sidecar: SidecarRecord | SidecarPatch | None) -> None:
    assert attrs.evolve(COMMIT, allow_archived=True, sidecar=sidecar).allow_archived


@pytest.mark.parametrize(
    "changes",
    [
        {"update": b"1"},
        {"update": b""},
        {"events": (Event(id="event", kind="noted", payload=None, created_at=NOW),)},
        {"title": TitleChange(title="Title")},
    ],
    ids=["update", "empty update", "event", "title"],
)
def test_nothing_else_is_allowed_into_the_archive(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidField) as caught:
        attrs.evolve(COMMIT, allow_archived=True, sidecar=SidecarRecord(head=None), **changes)

    assert caught.value.field == "allow_archived"


def test_a_parent_is_named_or_absent() -> None:
    with pytest.raises(InvalidField) as caught:
        ChannelCreate(
            id=ChannelId("channel"),
            repository=Repository(id=RepositoryId("R_1"), owner="octo", name="notes"),
            title="Title",
            created_by=UserId("user"),
            now=NOW,
            parent_id=ChannelId(""),
        )

    assert caught.value.field == "parent_id"


def test_titles_may_repeat_unless_asked_otherwise() -> None:
    assert TitleChange(title="Title").titles is TitlePolicy.REPEATABLE


@pytest.mark.parametrize(
    "make",
    [
        lambda at: attrs.evolve(COMMIT, now=at),
        lambda at: Event(id="event", kind="noted", payload=None, created_at=at),
        lambda at: Cursor(at=at, id=ChannelId("channel")),
    ],
    ids=["commit", "event", "cursor"],
)
def test_an_instant_says_its_offset(make: Callable[[datetime], object]) -> None:
    make(NOW)
    with pytest.raises(InvalidField):
        make(NOW.replace(tzinfo=None))
