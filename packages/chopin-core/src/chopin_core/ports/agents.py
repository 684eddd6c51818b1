"""Storage of who speaks for a channel's Planner: one session at a time, told apart by a generation."""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.counters import LARGEST, AgentGeneration
from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId, SessionId
from chopin_core.instants import aware_field
from chopin_core.text import storable_field


class AgentStatus(enum.Enum):
    READY = "ready"
    UNAVAILABLE = "unavailable"


@attrs.frozen(kw_only=True)
class Agent:
    """
    A channel's Planner as it is stored. ``owner_until`` is the end of the owner's session, None without an owner.

    ``generation`` is 1 for the first owner ever and one more for each later one.
    """

    channel_id: ChannelId
    owner: SessionId | None
    owner_until: datetime | None
    generation: AgentGeneration
    summary: str = ""
    transcript_cursor: int = 0
    status: AgentStatus
    updated_at: datetime

    def at(self, now: datetime) -> Agent:
        """As it is to be seen at an instant: the owner of an expired session is none. What is stored does not change."""
        return self if self.owned_at(now) else self.ownerless()

    def owned_at(self, now: datetime) -> bool:
        return self.owner is not None and self.owner_until is not None and self.owner_until > now

    def owned_by(self, session_id: SessionId, generation: AgentGeneration) -> bool:
        return (self.owner, self.generation) == (session_id, generation)

    def ownerless(self) -> Agent:
        return attrs.evolve(self, owner=None, owner_until=None, status=AgentStatus.UNAVAILABLE)


@attrs.frozen(kw_only=True)
class AgentContext:
    """
    What the owner remembers of the conversation so far.

    Raises:
        InvalidField: the summary cannot be stored, or the cursor is no counter.
    """

    summary: str = attrs.field(validator=storable_field)
    transcript_cursor: int = attrs.field()
    status: AgentStatus
    now: datetime = attrs.field(validator=aware_field)

    @transcript_cursor.validator
    def _counted(self, attribute: attrs.Attribute[int], value: int) -> None:
        if not 0 <= value <= LARGEST:
            raise InvalidField("transcript_cursor", "is no counter")


class AgentStore(Protocol):
    """
    The Planner of each channel, archived or not. No lease is needed: a generation protects one owner from another.

    Nothing here moves the channel or its activity time.
    """

    async def claim(self, channel_id: ChannelId, session_id: SessionId, *, now: datetime) -> Agent:
        """
        Become the owner if nobody is, under the next generation; else the agent as it is, also when the caller owns it.

        An owner whose session has expired at ``now`` is none. Summary and cursor stay. Of callers at once exactly one wins.

        Raises, the first that applies:
            ChannelMissing: there is no such channel.
            SessionMissing: there is no such session, or it has expired at ``now``.
        """
        ...

    async def clear(self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, *, now: datetime) -> bool:
        """Stop owning; False, and nothing changes, if somebody else owns it or under another generation."""
        ...

    async def remember(
        self, channel_id: ChannelId, session_id: SessionId, generation: AgentGeneration, context: AgentContext
    ) -> None:
        """
        Keep the context.

        Raises:
            AgentNotOwned: not by this session, under this generation, at ``context.now``.
        """
        ...

    async def read(self, channel_id: ChannelId, *, now: datetime) -> Agent | None:
        """The agent as seen at ``now``; None if there never was an owner, or no such channel."""
        ...
