"""A research workspace: one question of a document, from its proposal to the child that reports on it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

import attrs

from chopin_core.channel import TITLE_LENGTH
from chopin_core.counters import ResearchRevision
from chopin_core.ids import ChannelId, MessageId, RepositoryId, UserId, WorkspaceId, channel_id
from chopin_core.instants import aware_field
from chopin_core.text import key_field, named_field


class Origin(enum.Enum):
    """Where a request came from."""

    INLINE = "inline"
    SIDEBAR = "sidebar"
    PLANNER = "planner"


class InlineReference(enum.Enum):
    """Whether the document shows where a Planner's request belongs."""

    PENDING = "pending"
    PLACED = "placed"


@attrs.frozen(kw_only=True)
class Workspace:
    """
    A request as it is stored. ``query`` and ``confirmed_by`` stand together: the question as it was confirmed, and by whom.

    ``turns`` and ``messages`` say how many there are; their ordinals and sequences have no gaps.
    """

    id: WorkspaceId
    channel_id: ChannelId
    title: str
    proposed_question: str
    origin: Origin
    created_by: UserId
    idempotency_key: str
    fingerprint: str
    created_at: datetime
    updated_at: datetime
    revision: ResearchRevision = attrs.field(default=ResearchRevision(0))
    turns: int = 0
    messages: int = 0
    query: str | None = None
    confirmed_by: UserId | None = None
    origin_message: MessageId | None = None
    inline_reference: InlineReference | None = None
    published_channel: ChannelId | None = None

    @property
    def confirmed(self) -> bool:
        return self.query is not None

    def moved(self, now: datetime, **changes: Any) -> Workspace:
        """One revision on, with its activity at the later of the stored instant and ``now``."""
        revision = ResearchRevision(self.revision + 1)
        return attrs.evolve(self, revision=revision, updated_at=max(self.updated_at, now), **changes)


@attrs.frozen(kw_only=True)
class Proposal:
    """
    A request that still has to be confirmed.

    Raises:
        InvalidField: a text is empty or cannot be stored.
    """

    id: WorkspaceId = attrs.field(validator=[named_field, key_field])
    channel_id: ChannelId
    title: str = attrs.field(validator=named_field)
    question: str = attrs.field(validator=named_field)
    origin: Origin
    origin_message: MessageId | None = attrs.field(default=None, validator=[named_field, key_field])
    created_by: UserId = attrs.field(validator=key_field)
    idempotency_key: str = attrs.field(validator=[named_field, key_field])
    fingerprint: str = attrs.field(validator=named_field)
    now: datetime = attrs.field(validator=aware_field)

    def staged(self) -> Workspace:
        return Workspace(
            id=self.id,
            channel_id=self.channel_id,
            title=self.title,
            proposed_question=self.question,
            origin=self.origin,
            origin_message=self.origin_message,
            created_by=self.created_by,
            idempotency_key=self.idempotency_key,
            fingerprint=self.fingerprint,
            created_at=self.now,
            updated_at=self.now,
        )


def report_id(repository: RepositoryId, workspace: WorkspaceId) -> ChannelId:
    """The id of the child that reports on a request: the same for every attempt to publish it."""
    return channel_id(repository, workspace)


def numbered_title(title: str, number: int) -> str:
    """The title for 0, ``title (2)`` for 1, ``title (3)`` for 2 …; the stem gives way to the suffix."""
    if not number:
        return title
    suffix = f" ({number + 1})"
    return title[: TITLE_LENGTH - len(suffix)].rstrip() + suffix


def free_title(title: str, taken: Callable[[str], bool]) -> str:
    """The title, or the first numbered one that is not ``taken``."""
    return next(wanted for number in count() if not taken(wanted := numbered_title(title, number)))
