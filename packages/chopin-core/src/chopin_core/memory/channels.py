"""Channels in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

import attrs

from chopin_core.channel import Channel, TitlePolicy, moved_on
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import (
    ChannelActive,
    ChannelArchived,
    ChannelExists,
    ChannelMissing,
    ChannelReferred,
    ParentUnfit,
    UserMissing,
)
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.memory.deletion import forget
from chopin_core.memory.leases import fence
from chopin_core.memory.tables import Connection, History, KeptSidecar, KeptSnapshot, Tables, utc
from chopin_core.memory.titles import keep, titled
from chopin_core.ports.channels import (
    PAGE_LIMIT,
    Changed,
    ChannelCreate,
    Cursor,
    DecisionCount,
    DescriptionDraft,
    Initial,
    Page,
)
from chopin_core.ports.leases import Lease
from chopin_core.text import storable


@attrs.frozen
class MemoryChannelStore:
    _connection: Connection

    async def create(self, creation: ChannelCreate) -> Channel:
        history = born(creation.initial, utc(creation.now))
        tables = await self._connection.turn()
        return create(tables, creation, history)

    async def get(self, channel_id: ChannelId) -> Channel | None:
        tables = await self._connection.turn()
        return tables.channels.get(channel_id)

    async def resolve(self, repository_id: RepositoryId, slug: str) -> Channel | None:
        tables = await self._connection.turn()
        channel_id = tables.slugs.get((repository_id, slug))
        return None if channel_id is None else tables.channels[channel_id]

    async def rename(
        self, channel_id: ChannelId, title: str, *, now: datetime, titles: TitlePolicy = TitlePolicy.REPEATABLE
    ) -> Changed:
        storable(title, "title")
        tables = await self._connection.turn()
        channel = channel_of(tables, channel_id)
        if channel.archived:
            raise ChannelArchived(channel_id)
        if title == channel.title:
            return Changed(channel=channel, changed=False)
        renamed = titled(tables, channel, title, titles)
        renamed = attrs.evolve(renamed, updated_at=moved_on(channel.updated_at, utc(now)))
        keep(tables, renamed)
        return Changed(channel=renamed, changed=True)

    async def archive(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        return await self._put_away(channel_id, True, now)

    async def restore(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        return await self._put_away(channel_id, False, now)

    async def delete(self, channel_id: ChannelId) -> bool:
        tables = await self._connection.turn()
        channel = tables.channels.get(channel_id)
        if channel is None:
            return False
        if not channel.archived:
            raise ChannelActive(channel_id)
        referred = any(other.parent_id == channel_id for other in tables.channels.values()) or any(
            workspace.published_channel == channel_id for workspace in tables.workspaces.values()
        )
        if referred:
            raise ChannelReferred(channel_id)
        forget(tables, channel_id)
        return True

    async def publish_description(self, channel_id: ChannelId, draft: DescriptionDraft, *, lease: Lease) -> Changed:
        tables = await self._connection.turn()
        fence(tables, lease, self._connection.clock())
        channel = channel_of(tables, channel_id)
        if not draft.supersedes(channel.description):
            return Changed(channel=channel, changed=False)
        shown = attrs.evolve(draft, now=utc(draft.now)).published(channel.description)
        tables.channels[channel_id] = attrs.evolve(channel, description=shown)
        return Changed(channel=tables.channels[channel_id], changed=True)

    async def unanswered_decisions(self, repository_id: RepositoryId) -> int:
        tables = await self._connection.turn()
        return sum(
            channel.unanswered_decisions
            for channel in tables.channels.values()
            if channel.repository.id == repository_id and _active_with_parent(tables, channel)
        )

    async def unanswered_counts(
        self, repository_id: RepositoryId, channel_ids: Collection[ChannelId]
    ) -> tuple[DecisionCount, ...]:
        tables = await self._connection.turn()
        return tuple(
            DecisionCount(channel_id=channel.id, revision=channel.revision, unanswered=channel.unanswered_decisions)
            for channel in sorted(tables.channels.values(), key=lambda channel: channel.id)
            if channel.repository.id == repository_id and channel.id in channel_ids
        )

    async def _put_away(self, channel_id: ChannelId, away: bool, now: datetime) -> Changed:
        tables = await self._connection.turn()
        channel = channel_of(tables, channel_id)
        if channel.archived is away:
            return Changed(channel=channel, changed=False)
        at = moved_on(channel.updated_at, utc(now))
        tables.channels[channel_id] = attrs.evolve(channel, updated_at=at, archived_at=at if away else None)
        return Changed(channel=tables.channels[channel_id], changed=True)

    async def list(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        query: str = "",
        include_archived: bool = False,
    ) -> Page:
        tables = await self._connection.turn()
        shown = (
            channel
            for channel in tables.channels.values()
            if channel.repository.id == repository_id
            and (include_archived or _active_with_parent(tables, channel))
            and _found(channel, query)
        )
        return _page(shown, lambda channel: channel.updated_at, limit, after)

    async def scan(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = 50,
        after: Cursor | None = None,
        include_archived: bool = False,
    ) -> Page:
        tables = await self._connection.turn()
        shown = (
            channel
            for channel in tables.channels.values()
            if channel.repository.id == repository_id and (include_archived or not channel.archived)
        )
        return _page(shown, lambda channel: channel.created_at, limit, after)


def create(tables: Tables, creation: ChannelCreate, history: History) -> Channel:
    """What ``ChannelStore.create`` promises, with what the channel is :func:`born` with."""
    if creation.parent_id is not None:
        parent = channel_of(tables, creation.parent_id)
        if parent.repository.id != creation.repository.id or parent.parent_id is not None:
            raise ParentUnfit(parent.id)
    if creation.created_by not in tables.users:
        raise UserMissing(creation.created_by)
    if creation.id in tables.channels:
        raise ChannelExists(creation.id)
    untitled = Channel(
        id=creation.id,
        repository=creation.repository,
        title="",
        slug="",
        created_by=creation.created_by,
        revision=StorageRevision(0),
        created_at=utc(creation.now),
        updated_at=utc(creation.now),
        parent_id=creation.parent_id,
        unanswered_decisions=0 if history.sidecar is None else history.sidecar.unanswered_decisions(),
    )
    channel = titled(tables, untitled, creation.title, creation.titles)
    keep(tables, channel)
    tables.histories[channel.id] = history
    return channel


def channel_of(tables: Tables, channel_id: ChannelId) -> Channel:
    if channel_id not in tables.channels:
        raise ChannelMissing(channel_id)
    return tables.channels[channel_id]


def born(initial: Initial | None, now: datetime) -> History:
    if initial is None:
        return History()
    sidecar = KeptSidecar.of(initial.sidecar)
    snapshot = KeptSnapshot(
        generation=initial.generation,
        revision=StorageRevision(0),
        through=StorageSequence(0),
        epoch=initial.epoch,
        source=initial.source,
        source_hash=initial.source_hash,
        document=bytes(initial.document),
        sidecar=sidecar,
        created_at=now,
    )
    return History(sidecar=sidecar, snapshot=snapshot)


def _active_with_parent(tables: Tables, channel: Channel) -> bool:
    if channel.archived:
        return False
    return channel.parent_id is None or not tables.channels[channel.parent_id].archived


def _found(channel: Channel, query: str) -> bool:
    described = "" if channel.description is None else channel.description.value
    return query.lower() in channel.title.lower() or query.lower() in described.lower()


def _page(channels: Iterable[Channel], at: Callable[[Channel], datetime], limit: int, after: Cursor | None) -> Page:
    ordered = sorted(sorted(channels, key=lambda channel: channel.id), key=at, reverse=True)
    if after is not None:
        ordered = [
            channel for channel in ordered if at(channel) < after.at or (at(channel) == after.at and channel.id > after.id)
        ]
    size = min(max(limit, 1), PAGE_LIMIT)
    page = ordered[:size]
    last = page[-1] if len(ordered) > size else None
    return Page(channels=tuple(page), next=None if last is None else Cursor(at=at(last), id=last.id))
