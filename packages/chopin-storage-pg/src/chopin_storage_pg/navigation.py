"""The navigation store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.channel import Channel
from chopin_core.counters import NavigationRevision
from chopin_core.errors import ChannelArchived, ChannelMissing, NavigationMissing, UserMissing
from chopin_core.ids import ChannelId, RepositoryId, UserId
from chopin_core.people import Repository
from chopin_core.ports.navigation import AddedProject, MovedNavigation, Navigation, Project, Sidebar
from chopin_storage_pg import rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import channels, user_navigation, user_projects, users
from chopin_storage_pg.users import refuse_unknown


class PgNavigationStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def sidebar(self, user_id: UserId) -> Sidebar:
        _refuse_impossible(user_id)
        async with self._connections.reading() as connection:
            await refuse_unknown(connection, user_id)
            projects = await connection.execute(
                select(user_projects).where(user_projects.c.user_id == user_id).order_by(user_projects.c.position)
            )
            found = await connection.execute(
                select(user_navigation, channels.c.repository_id, channels.c.archived_at)
                .select_from(user_navigation.outerjoin(channels, channels.c.id == user_navigation.c.last_document_id))
                .where(user_navigation.c.user_id == user_id)
            )
            row = found.one_or_none()
            shown = None if row is None or row.repository_id is None or row.archived_at is not None else row.repository_id
            return Sidebar(
                projects=tuple(_project(project) for project in projects),
                navigation=None if row is None else _navigation(row),
                repository_id=None if shown is None else RepositoryId(shown),
            )

    async def first_document(self, user_id: UserId, repositories: Sequence[RepositoryId]) -> Channel | None:
        _refuse_impossible(user_id)
        async with self._connections.reading() as connection:
            await refuse_unknown(connection, user_id)
            first = (
                select(channels.c.id)
                .join(user_projects, user_projects.c.repository_id == channels.c.repository_id)
                .where(
                    user_projects.c.user_id == user_id,
                    channels.c.repository_id.in_([id for id in repositories if rows.can_exist(id)]),
                    channels.c.archived_at.is_(None),
                )
                .order_by(user_projects.c.position, channels.c.updated_at.desc(), channels.c.id)
                .limit(1)
            )
            row = (await connection.execute(rows.CHANNEL.where(channels.c.id == first.scalar_subquery()))).one_or_none()
        return None if row is None else rows.channel(row)

    async def add_project(self, user_id: UserId, repository: Repository, *, now: datetime) -> AddedProject:
        _refuse_impossible(user_id)
        async with self._connections.writing() as connection:
            await _locked(connection, user_id)
            return await _added(connection, user_id, repository, now)

    async def set_last_document(self, user_id: UserId, channel_id: ChannelId | None, *, now: datetime) -> Navigation:
        _refuse_impossible(user_id)
        async with self._connections.writing() as connection:
            await _locked(connection, user_id)
            await _refuse_archived(connection, channel_id)
            return await _moved(connection, user_id, channel_id, now)

    async def move_last_document(
        self, user_id: UserId, channel_id: ChannelId | None, *, expected: NavigationRevision | None, now: datetime
    ) -> MovedNavigation:
        _refuse_impossible(user_id)
        async with self._connections.writing() as connection:
            await _locked(connection, user_id)
            await _refuse_archived(connection, channel_id)
            row = (await connection.execute(select(user_navigation).where(user_navigation.c.user_id == user_id))).one_or_none()
            current = None if row is None else _navigation(row)
            if (None if current is None else current.revision) == expected:
                return MovedNavigation(navigation=await _moved(connection, user_id, channel_id, now), updated=True)
            if current is None:
                raise NavigationMissing(user_id)
            return MovedNavigation(navigation=current, updated=False)

    async def record_visit(
        self, user_id: UserId, channel_id: ChannelId, repository: Repository, *, now: datetime
    ) -> Navigation:
        _refuse_impossible(user_id)
        async with self._connections.writing() as connection:
            await _locked(connection, user_id)
            await _refuse_archived(connection, channel_id, repository.id)
            await _added(connection, user_id, repository, now)
            return await _moved(connection, user_id, channel_id, now)


def _refuse_impossible(user_id: UserId) -> None:
    if not rows.can_exist(user_id):
        raise UserMissing(user_id)


async def _locked(connection: AsyncConnection, user_id: UserId) -> None:
    """One write of a person's navigation at a time; what is read afterwards is what the one before left."""
    await connection.execute(select(users.c.id).where(users.c.id == user_id).with_for_update(key_share=True))
    await refuse_unknown(connection, user_id)


async def _refuse_archived(
    connection: AsyncConnection, channel_id: ChannelId | None, repository_id: RepositoryId | None = None
) -> None:
    if channel_id is None:
        return
    row = None
    if rows.can_exist(channel_id):
        found = await connection.execute(
            select(channels.c.repository_id, channels.c.archived_at)
            .where(channels.c.id == channel_id)
            .with_for_update(read=True, key_share=True)
        )
        row = found.one_or_none()
    if row is None or repository_id not in (None, row.repository_id):
        raise ChannelMissing(channel_id)
    if row.archived_at is not None:
        raise ChannelArchived(channel_id)


async def _added(connection: AsyncConnection, user_id: UserId, repository: Repository, now: datetime) -> AddedProject:
    theirs = user_projects.c.user_id == user_id
    known = (
        await connection.execute(select(user_projects).where(theirs, user_projects.c.repository_id == repository.id))
    ).one_or_none()
    if known is not None:
        return AddedProject(project=_project(known), added=False)
    last = select(func.coalesce(func.max(user_projects.c.position) + 1, 0)).where(theirs).scalar_subquery()
    made = await connection.execute(
        insert(user_projects)
        .values(
            user_id=user_id,
            repository_id=repository.id,
            repository_owner=repository.owner,
            repository_name=repository.name,
            position=last,
            added_at=now,
        )
        .returning(user_projects)
    )
    return AddedProject(project=_project(made.one()), added=True)


async def _moved(connection: AsyncConnection, user_id: UserId, channel_id: ChannelId | None, now: datetime) -> Navigation:
    changes = {"last_document_id": channel_id, "updated_at": now}
    written = insert(user_navigation).values(user_id=user_id, revision=0, **changes)
    result = await connection.execute(
        written.on_conflict_do_update(
            index_elements=[user_navigation.c.user_id], set_={**changes, "revision": user_navigation.c.revision + 1}
        ).returning(user_navigation)
    )
    return _navigation(result.one())


def _project(row: Row[Any]) -> Project:
    return Project(
        repository=Repository(id=RepositoryId(row.repository_id), owner=row.repository_owner, name=row.repository_name),
        position=rows.count(row.position, f"project of user {row.user_id}", "position"),
        added_at=rows.utc(row.added_at),
    )


def _navigation(row: Row[Any]) -> Navigation:
    return Navigation(
        last_document=None if row.last_document_id is None else ChannelId(row.last_document_id),
        revision=NavigationRevision(rows.count(row.revision, f"navigation of user {row.user_id}", "revision")),
        updated_at=rows.utc(row.updated_at),
    )
