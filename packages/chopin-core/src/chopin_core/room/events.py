"""What a room tells its members, as values; the shells turn them into frames."""

from __future__ import annotations

import enum
from typing import TypeAlias

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import DocumentSequence, Epoch


class ResetReason(enum.Enum):
    """Why a member must throw its copy of the document away and open it anew."""

    REPLACED = "replaced"
    CLEARED = "cleared"
    COMPACTED = "compacted"
    REBUILT = "rebuilt"


@attrs.frozen(kw_only=True)
class MemberView:
    """One connection, as the others see it. A person with two tabs is two members."""

    handle: str
    client: str


@attrs.frozen(kw_only=True)
class Acknowledged:
    """An update of this member is durable. ``tag`` is what the member gave along with it."""

    epoch: Epoch
    id: str
    sequence: DocumentSequence
    tag: str | None


@attrs.frozen(kw_only=True)
class Updated:
    """Somebody else changed the document, durably. ``agent`` marks an edit that no browser made."""

    epoch: Epoch
    update: bytes
    sequence: DocumentSequence
    sender: str | None
    agent: bool = False


@attrs.frozen(kw_only=True)
class Reset:
    """The member's copy is of no use: to one member for an update of its own, to all when the document was rebuilt."""

    epoch: Epoch
    reason: ResetReason


@attrs.frozen(kw_only=True)
class PresenceChanged:
    """Who is here now, in the order of their coming."""

    members: tuple[MemberView, ...]


@attrs.frozen(kw_only=True)
class CursorsMoved:
    """Awareness of others, in the encoding of y-protocols; never stored."""

    epoch: Epoch
    update: bytes
    sender: str | None


@attrs.frozen(kw_only=True)
class ChannelChanged:
    """Title, address or archive state changed."""

    channel: Channel


@attrs.frozen(kw_only=True)
class Struck:
    """An update of this member was refused; ``reason`` is a code, safe to log."""

    reason: str


@attrs.frozen(kw_only=True)
class RoomClosed:
    """The room is gone from under its members; opening it again tells the truth."""


RoomEvent: TypeAlias = Acknowledged | Updated | Reset | PresenceChanged | CursorsMoved | ChannelChanged | Struck | RoomClosed
