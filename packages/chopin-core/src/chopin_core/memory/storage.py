"""The in-memory stores, opened and closed as one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from chopin_core.memory.agents import MemoryAgentStore
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.images import MemoryImageStore
from chopin_core.memory.jobs import MemoryJobStore
from chopin_core.memory.leases import MemoryLeaseStore
from chopin_core.memory.machines import MemoryMachineStore
from chopin_core.memory.navigation import MemoryNavigationStore
from chopin_core.memory.research import MemoryResearchStore
from chopin_core.memory.tables import Connection, Tables
from chopin_core.memory.users import MemoryUserStore
from chopin_core.memory.web_sessions import MemoryWebSessionStore


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryStorage:
    """
    A storage that is forgotten with its tables.

    Two storages on the same ``tables`` stand for two processes on one database. ``clock`` is storage's own clock, by which
    leases expire; tests may turn it.
    """

    def __init__(self, tables: Tables | None = None, *, clock: Callable[[], datetime] = _now) -> None:
        self._connection = Connection(tables=Tables() if tables is None else tables, clock=clock)
        self._users = MemoryUserStore(self._connection)
        self._channels = MemoryChannelStore(self._connection)
        self._collaboration = MemoryCollaborationStore(self._connection)
        self._leases = MemoryLeaseStore(self._connection)
        self._agents = MemoryAgentStore(self._connection)
        self._images = MemoryImageStore(self._connection)
        self._jobs = MemoryJobStore(self._connection)
        self._machines = MemoryMachineStore(self._connection)
        self._navigation = MemoryNavigationStore(self._connection)
        self._research = MemoryResearchStore(self._connection)
        self._sessions = MemoryWebSessionStore(self._connection)

    @property
    def users(self) -> MemoryUserStore:
        return self._users

    @property
    def channels(self) -> MemoryChannelStore:
        return self._channels

    @property
    def collaboration(self) -> MemoryCollaborationStore:
        return self._collaboration

    @property
    def leases(self) -> MemoryLeaseStore:
        return self._leases

    @property
    def agents(self) -> MemoryAgentStore:
        return self._agents

    @property
    def images(self) -> MemoryImageStore:
        return self._images

    @property
    def jobs(self) -> MemoryJobStore:
        return self._jobs

    @property
    def machines(self) -> MemoryMachineStore:
        return self._machines

    @property
    def navigation(self) -> MemoryNavigationStore:
        return self._navigation

    @property
    def research(self) -> MemoryResearchStore:
        return self._research

    @property
    def sessions(self) -> MemoryWebSessionStore:
        return self._sessions

    async def health(self) -> None:
        await self._connection.turn()

    async def close(self) -> None:
        self._connection.closed = True
