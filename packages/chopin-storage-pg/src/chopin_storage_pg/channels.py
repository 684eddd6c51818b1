"""The channel store: titles and addresses, putting away, and where its lists come from."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import attrs
from sqlalchemy import Select, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.channel import Channel, TitlePolicy, moved_on, title_key
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import (
    ChannelActive,
    ChannelArchived,
    ChannelExists,
    ChannelMissing,
    ChannelReferred,
    ParentUnfit,
)
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.ports.channels import Changed, ChannelCreate, Cursor, DecisionCount, DescriptionDraft, Page
from chopin_core.ports.leases import Lease
from chopin_core.text import storable
from chopin_storage_pg import catalogue, fences, rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.snapshots import write_sidecar, write_snapshot
from chopin_storage_pg.tables import (
    channel_search,
    channel_slugs,
    channel_state,
    channels,
    research_workspaces,
)
from chopin_storage_pg.titles import address, lock_titles, refuse_taken, repository_of, retitle
from chopin_storage_pg.users import refuse_unknown


class PgChannelStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def create(self, creation: ChannelCreate) -> Channel:
        async with self._connections.writing({"channels_pkey": ChannelExists(creation.id)}) as connection:
            await lock_titles(connection, creation.repository.id)
            return await create(connection, creation)

    async def get(self, channel_id: ChannelId) -> Channel | None:
        return await self._first(rows.CHANNEL.where(channels.c.id == channel_id), channel_id)

    async def resolve(self, repository_id: RepositoryId, slug: str) -> Channel | None:
        named = select(channel_slugs.c.channel_id).where(
            channel_slugs.c.repository_id == repository_id, channel_slugs.c.slug == slug
        )
        return await self._first(rows.CHANNEL.where(channels.c.id == named.scalar_subquery()), repository_id, slug)

    async def rename(
        self, channel_id: ChannelId, title: str, *, now: datetime, titles: TitlePolicy = TitlePolicy.REPEATABLE
    ) -> Changed:
        storable(title, "title")
        _refuse_impossible(channel_id)
        async with self._connections.writing() as connection:
            repository_id = await repository_of(connection, channel_id)
            await lock_titles(connection, repository_id)
            channel = await _locked(connection, channel_id)
            if channel.archived:
                raise ChannelArchived(channel_id)
            if channel.title == title:
                return Changed(channel=channel, changed=False)
            await refuse_taken(connection, repository_id, channel_id, title, titles)
            slug = await retitle(connection, repository_id, channel_id, title, now)
            return await _moved(connection, attrs.evolve(channel, title=title, slug=slug), now)

    async def archive(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        return await self._put_away(channel_id, True, now)

    async def restore(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        return await self._put_away(channel_id, False, now)

    async def delete(self, channel_id: ChannelId) -> bool:
        if not rows.can_exist(channel_id):
            return False
        async with self._connections.writing() as connection:
            await connection.execute(select(channels.c.id).where(channels.c.id == channel_id).with_for_update())
            row = (await connection.execute(select(channels.c.archived_at).where(channels.c.id == channel_id))).one_or_none()
            if row is None:
                return False
            if row.archived_at is None:
                raise ChannelActive(channel_id)
            child = select(channels.c.id).where(channels.c.parent_channel_id == channel_id)
            report = select(research_workspaces.c.id).where(research_workspaces.c.published_channel_id == channel_id)
            for referring in (child, report):
                if await connection.scalar(referring.limit(1)) is not None:
                    raise ChannelReferred(channel_id)
            # Requests name jobs, and the two would go in no certain order with the channel.
            await connection.execute(delete(research_workspaces).where(research_workspaces.c.channel_id == channel_id))
            await connection.execute(delete(channels).where(channels.c.id == channel_id))
            return True

    async def publish_description(self, channel_id: ChannelId, draft: DescriptionDraft, *, lease: Lease) -> Changed:
        async with self._connections.writing() as connection:
            await fences.hold(connection, lease)
            if rows.can_exist(channel_id):
                await _lock(connection, channel_id)
            await fences.judge(connection, lease)
            _refuse_impossible(channel_id)
            channel = await known(connection, channel_id)
            if not draft.supersedes(channel.description):
                return Changed(channel=channel, changed=False)
            shown = attrs.evolve(draft, now=rows.utc(draft.now)).published(channel.description)
            await connection.execute(
                update(channels)
                .where(channels.c.id == channel_id)
                .values(
                    generated_description=shown.value,
                    generated_description_revision=shown.revision,
                    generated_description_plan_revision=shown.plan_revision,
                    generated_description_source_hash=shown.source_hash,
                    generated_description_generator_version=shown.generator_version,
                    generated_description_job_id=shown.job_id,
                    generated_description_updated_at=shown.updated_at,
                )
            )
            await connection.execute(
                update(channel_search)
                .where(channel_search.c.channel_id == channel_id)
                .values(description_key=shown.value.lower())
            )
            return Changed(channel=await known(connection, channel_id), changed=True)

    async def unanswered_decisions(self, repository_id: RepositoryId) -> int:
        if not rows.can_exist(repository_id):
            return 0
        shown = catalogue.listed(repository_id, "", False).subquery()
        async with self._connections.single() as connection:
            return int(await connection.scalar(select(func.coalesce(func.sum(shown.c.unanswered_decisions), 0))) or 0)

    async def unanswered_counts(
        self, repository_id: RepositoryId, channel_ids: Collection[ChannelId]
    ) -> tuple[DecisionCount, ...]:
        asked = [channel_id for channel_id in channel_ids if rows.can_exist(channel_id)]
        if not asked or not rows.can_exist(repository_id):
            return ()
        query = rows.CHANNEL.where(channels.c.repository_id == repository_id, channels.c.id.in_(asked)).order_by(channels.c.id)
        async with self._connections.single() as connection:
            found = [rows.channel(row) for row in await connection.execute(query)]
        return tuple(
            DecisionCount(channel_id=channel.id, revision=channel.revision, unanswered=channel.unanswered_decisions)
            for channel in found
        )

    async def list(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        query: str = "",
        include_archived: bool = False,
    ) -> Page:
        if not rows.can_exist(repository_id, query):
            return Page(channels=(), next=None)
        return await self._page(catalogue.listed(repository_id, query, include_archived), catalogue.ACTIVITY, limit, after)

    async def scan(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        include_archived: bool = False,
    ) -> Page:
        if not rows.can_exist(repository_id):
            return Page(channels=(), next=None)
        return await self._page(catalogue.scanned(repository_id, include_archived), catalogue.CREATION, limit, after)

    async def _page(self, shown: Select[Any], at: catalogue.Order, limit: int, after: Cursor | None) -> Page:
        async with self._connections.single() as connection:
            found = await connection.execute(catalogue.page_of(shown, at, limit, after))
            return catalogue.page([rows.channel(row) for row in found], at, limit)

    async def _first(self, query: Select[Any], *texts: str) -> Channel | None:
        if not rows.can_exist(*texts):
            return None
        async with self._connections.single() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else rows.channel(row)

    async def _put_away(self, channel_id: ChannelId, away: bool, now: datetime) -> Changed:
        _refuse_impossible(channel_id)
        async with self._connections.writing() as connection:
            channel = await _locked(connection, channel_id)
            if channel.archived is away:
                return Changed(channel=channel, changed=False)
            at = moved_on(channel.updated_at, rows.utc(now))
            return await _moved(connection, attrs.evolve(channel, archived_at=at if away else None), now)


async def create(connection: AsyncConnection, creation: ChannelCreate) -> Channel:
    """What ``ChannelStore.create`` promises, in a transaction that holds the repository's titles."""
    await _refuse_unfit(connection, creation)
    await _insert(connection, creation)
    await refuse_taken(connection, creation.repository.id, creation.id, creation.title, creation.titles)
    await address(connection, creation.repository.id, creation.id, creation.title, creation.now)
    if creation.initial is not None:
        await write_sidecar(connection, creation.id, creation.initial.sidecar)
        await write_snapshot(
            connection,
            creation.id,
            creation.initial,
            now=creation.now,
            revision=StorageRevision(0),
            through=StorageSequence(0),
        )
    return await known(connection, creation.id)


def _refuse_impossible(channel_id: ChannelId) -> None:
    if not rows.can_exist(channel_id):
        raise ChannelMissing(channel_id)


async def known(connection: AsyncConnection, channel_id: ChannelId) -> Channel:
    row = (await connection.execute(rows.CHANNEL.where(channels.c.id == channel_id))).one_or_none()
    if row is None:
        raise ChannelMissing(channel_id)
    return rows.channel(row)


async def _locked(connection: AsyncConnection, channel_id: ChannelId) -> Channel:
    """The channel, kept from other writers until the transaction ends, and read after the wait for them."""
    await _lock(connection, channel_id)
    return await known(connection, channel_id)


async def _lock(connection: AsyncConnection, channel_id: ChannelId) -> None:
    await connection.execute(select(channels.c.id).where(channels.c.id == channel_id).with_for_update(key_share=True))


async def _moved(connection: AsyncConnection, channel: Channel, now: datetime) -> Changed:
    """The channel with its activity moved on, as it is stored now."""
    at = moved_on(channel.updated_at, rows.utc(now))
    await connection.execute(
        update(channels).where(channels.c.id == channel.id).values(updated_at=at, archived_at=channel.archived_at)
    )
    return Changed(channel=attrs.evolve(channel, updated_at=at), changed=True)


async def _refuse_unfit(connection: AsyncConnection, creation: ChannelCreate) -> None:
    if creation.parent_id is not None:
        parent = (
            await connection.execute(
                select(channels.c.repository_id, channels.c.parent_channel_id)
                .where(channels.c.id == creation.parent_id)
                .with_for_update(read=True, key_share=True)
            )
        ).one_or_none()
        if parent is None:
            raise ChannelMissing(creation.parent_id)
        if parent.repository_id != creation.repository.id or parent.parent_channel_id is not None:
            raise ParentUnfit(creation.parent_id)
    await refuse_unknown(connection, creation.created_by)


async def _insert(connection: AsyncConnection, creation: ChannelCreate) -> None:
    await connection.execute(
        insert(channels).values(
            id=creation.id,
            repository_id=creation.repository.id,
            repository_owner=creation.repository.owner,
            repository_name=creation.repository.name,
            parent_channel_id=creation.parent_id,
            title=creation.title,
            created_by=creation.created_by,
            created_at=creation.now,
            updated_at=creation.now,
        )
    )
    await connection.execute(
        insert(channel_search).values(
            channel_id=creation.id, repository_id=creation.repository.id, title_key=title_key(creation.title)
        )
    )
    await connection.execute(insert(channel_state).values(channel_id=creation.id))
