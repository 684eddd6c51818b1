"""The stores that belong together, opened and closed as one."""

from __future__ import annotations

from typing import Protocol

from chopin_core.ports.agents import AgentStore
from chopin_core.ports.channels import ChannelStore
from chopin_core.ports.collaboration import CollaborationStore
from chopin_core.ports.images import ImageStore
from chopin_core.ports.jobs import JobStore
from chopin_core.ports.leases import LeaseStore
from chopin_core.ports.machines import MachineStore
from chopin_core.ports.navigation import NavigationStore
from chopin_core.ports.research import ResearchStore
from chopin_core.ports.users import UserStore
from chopin_core.ports.web_sessions import WebSessionStore


class Storage(Protocol):
    """
    One database's worth of stores.

    Values that a store returns or is given are independent of what it keeps: changing one changes nothing stored. Instants
    come back in UTC, to the microsecond. An id is opaque and compared whole, code point by code point. One that is written
    down, like a key or the name of a lease, has at most ``text.LONGEST_KEY`` bytes, or ``InvalidField`` is raised. An id, slug
    or query that no column could keep (see ``text``) is like one that was never stored, and a JSON value that is none (NaN, an
    infinity) raises ``InvalidField`` and leaves nothing.

    Every method may raise ``Unavailable`` besides what it names. A write that does was not kept and will not be, with one
    exception: ``OutcomeUnknown`` says that nobody knows. Then, and when its caller gives up (a cancellation), it was kept
    wholly or not at all, and the same call may be made again: that waits for the first, and does what was not done. What
    was done it answers as a repeat, or refuses by what is there (``False``, ``SessionExists``, ``ClaimLost``, …): then read.
    Where doing it twice shows, the store says how.
    """

    @property
    def users(self) -> UserStore: ...

    @property
    def sessions(self) -> WebSessionStore: ...

    @property
    def machines(self) -> MachineStore: ...

    @property
    def navigation(self) -> NavigationStore: ...

    @property
    def channels(self) -> ChannelStore: ...

    @property
    def agents(self) -> AgentStore: ...

    @property
    def images(self) -> ImageStore: ...

    @property
    def collaboration(self) -> CollaborationStore: ...

    @property
    def jobs(self) -> JobStore: ...

    @property
    def research(self) -> ResearchStore: ...

    @property
    def leases(self) -> LeaseStore: ...

    async def health(self) -> None:
        """
        Return if a short transaction works and the schema is the one this version was made for.

        Raises:
            Unavailable: storage does not answer.
            CorruptRecord: an applied migration was changed, is unknown or is missing.
        """
        ...

    async def close(self) -> None:
        """Let go of every connection. Further calls raise ``Unavailable``, save this one: closing again does nothing."""
        ...
