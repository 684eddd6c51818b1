"""Navigation in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import NavigationRevision
from chopin_core.errors import ChannelArchived, ChannelMissing, NavigationMissing, UserMissing
from chopin_core.ids import ChannelId, RepositoryId, UserId
from chopin_core.memory.channels import channel_of
from chopin_core.memory.tables import Connection, Tables, utc
from chopin_core.people import Repository
from chopin_core.ports.navigation import AddedProject, MovedNavigation, Navigation, Project, Sidebar


@attrs.frozen
class MemoryNavigationStore:
    _connection: Connection

    async def sidebar(self, user_id: UserId) -> Sidebar:
        tables = await self._of(user_id)
        navigation = tables.navigations.get(user_id)
        last = None if navigation is None or navigation.last_document is None else tables.channels[navigation.last_document]
        return Sidebar(
            projects=tuple(tables.projects.get(user_id, ())),
            navigation=navigation,
            repository_id=None if last is None or last.archived else last.repository.id,
        )

    async def first_document(self, user_id: UserId, repositories: Sequence[RepositoryId]) -> Channel | None:
        tables = await self._of(user_id)
        for project in tables.projects.get(user_id, ()):
            if project.repository.id not in repositories:
                continue
            active = [
                channel
                for channel in tables.channels.values()
                if channel.repository.id == project.repository.id and not channel.archived
            ]
            if active:
                latest = max(channel.updated_at for channel in active)
                return min((channel for channel in active if channel.updated_at == latest), key=lambda channel: channel.id)
        return None

    async def add_project(self, user_id: UserId, repository: Repository, *, now: datetime) -> AddedProject:
        return _added(await self._of(user_id), user_id, repository, now)

    async def set_last_document(self, user_id: UserId, channel_id: ChannelId | None, *, now: datetime) -> Navigation:
        tables = await self._of(user_id)
        _refuse_archived(tables, channel_id)
        return _moved(tables, user_id, channel_id, now)

    async def move_last_document(
        self, user_id: UserId, channel_id: ChannelId | None, *, expected: NavigationRevision | None, now: datetime
    ) -> MovedNavigation:
        tables = await self._of(user_id)
        _refuse_archived(tables, channel_id)
        current = tables.navigations.get(user_id)
        if (None if current is None else current.revision) == expected:
            return MovedNavigation(navigation=_moved(tables, user_id, channel_id, now), updated=True)
        if current is None:
            raise NavigationMissing(user_id)
        return MovedNavigation(navigation=current, updated=False)

    async def record_visit(
        self, user_id: UserId, channel_id: ChannelId, repository: Repository, *, now: datetime
    ) -> Navigation:
        tables = await self._of(user_id)
        if channel_of(tables, channel_id).repository.id != repository.id:
            raise ChannelMissing(channel_id)
        _refuse_archived(tables, channel_id)
        _added(tables, user_id, repository, now)
        return _moved(tables, user_id, channel_id, now)

    async def _of(self, user_id: UserId) -> Tables:
        tables = await self._connection.turn()
        if user_id not in tables.users:
            raise UserMissing(user_id)
        return tables


def _refuse_archived(tables: Tables, channel_id: ChannelId | None) -> None:
    if channel_id is not None and channel_of(tables, channel_id).archived:
        raise ChannelArchived(channel_id)


def _added(tables: Tables, user_id: UserId, repository: Repository, now: datetime) -> AddedProject:
    projects = tables.projects.setdefault(user_id, [])
    for project in projects:
        if project.repository.id == repository.id:
            return AddedProject(project=project, added=False)
    projects.append(Project(repository=repository, position=len(projects), added_at=utc(now)))
    return AddedProject(project=projects[-1], added=True)


def _moved(tables: Tables, user_id: UserId, channel_id: ChannelId | None, now: datetime) -> Navigation:
    before = tables.navigations.get(user_id)
    revision = NavigationRevision(0 if before is None else before.revision + 1)
    tables.navigations[user_id] = Navigation(last_document=channel_id, revision=revision, updated_at=utc(now))
    return tables.navigations[user_id]
