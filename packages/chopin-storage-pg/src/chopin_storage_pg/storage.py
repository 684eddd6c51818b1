"""The stores of one PostgreSQL database, opened and closed as one."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from chopin_storage_pg.agents import PgAgentStore
from chopin_storage_pg.channels import PgChannelStore
from chopin_storage_pg.collaboration import PgCollaborationStore
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.grouping import GroupedCommits
from chopin_storage_pg.images import PgImageStore
from chopin_storage_pg.inspection import Inspection
from chopin_storage_pg.jobs import PgJobStore
from chopin_storage_pg.leases import RENEWING, PgLeaseStore
from chopin_storage_pg.machines import PgMachineStore
from chopin_storage_pg.migrate import Migrations, Upgrade
from chopin_storage_pg.navigation import PgNavigationStore
from chopin_storage_pg.outcomes import Outcomes
from chopin_storage_pg.research import PgResearchStore
from chopin_storage_pg.sessions import LostSessions, OwnSession
from chopin_storage_pg.users import PgUserStore
from chopin_storage_pg.web_sessions import PgWebSessionStore


class PgStorage:
    """Chopin's storage on PostgreSQL; a context manager that closes itself. Made by :func:`open_storage`."""

    def __init__(self, url: str) -> None:
        connections = Connections(url)
        lost = LostSessions()
        outcomes = Outcomes(connections, lost)
        self._connections = connections
        self._own = committing, renewing = OwnSession(connections, lost), OwnSession(connections, lost, *RENEWING)
        self._migrations = Migrations(connections)
        self._inspection = Inspection(connections)
        self._users = PgUserStore(connections)
        self._channels = PgChannelStore(connections)
        self._collaboration = PgCollaborationStore(connections, GroupedCommits(committing, outcomes), outcomes)
        self._leases = PgLeaseStore(connections, renewing, lost)
        self._agents = PgAgentStore(connections)
        self._images = PgImageStore(connections)
        self._jobs = PgJobStore(connections)
        self._machines = PgMachineStore(connections)
        self._navigation = PgNavigationStore(connections)
        self._research = PgResearchStore(connections)
        self._sessions = PgWebSessionStore(connections)

    @property
    def users(self) -> PgUserStore:
        return self._users

    @property
    def channels(self) -> PgChannelStore:
        return self._channels

    @property
    def collaboration(self) -> PgCollaborationStore:
        return self._collaboration

    @property
    def leases(self) -> PgLeaseStore:
        return self._leases

    @property
    def agents(self) -> PgAgentStore:
        return self._agents

    @property
    def images(self) -> PgImageStore:
        return self._images

    @property
    def jobs(self) -> PgJobStore:
        return self._jobs

    @property
    def machines(self) -> PgMachineStore:
        return self._machines

    @property
    def navigation(self) -> PgNavigationStore:
        return self._navigation

    @property
    def research(self) -> PgResearchStore:
        return self._research

    @property
    def sessions(self) -> PgWebSessionStore:
        return self._sessions

    @property
    def inspection(self) -> Inspection:
        """For whoever looks after the database."""
        return self._inspection

    async def migrate(self) -> Upgrade:
        """Bring the schema to the one of this version; see :meth:`Migrations.upgrade`."""
        return await self._migrations.upgrade()

    async def health(self) -> None:
        await self._migrations.refuse_incomplete()

    async def close(self) -> None:
        await self._connections.close()
        for session in self._own:
            await session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_storage(url: str) -> PgStorage:
    """
    The storage behind a ``postgres://`` or ``postgresql://`` URL, once its server has answered. The schema is left as it is.

    Raises:
        InvalidField: the URL is none of these, or the database is none that can be used. The URL is not repeated.
        StorageUnavailable: the server cannot be reached.
    """
    storage = PgStorage(url)
    try:
        await storage._migrations.refuse_unfit()
    except BaseException:
        await storage.close()
        raise
    return storage
