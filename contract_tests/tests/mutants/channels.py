"""Channels that are deleted too early or moved too much, and addresses that lead to another one."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.channel import TitlePolicy
from chopin_core.counters import DescriptionRevision, StorageRevision
from chopin_core.errors import ChannelActive, ChannelReferred
from chopin_core.ids import ChannelId
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.memory.deletion import forget
from chopin_core.ports.channels import Changed, DescriptionDraft
from chopin_core.ports.leases import Lease

from mutants import memory


class DeletesTheActive(MemoryChannelStore):
    """Nobody has to put a channel away first."""

    async def delete(self, channel_id: ChannelId) -> bool:
        try:
            return await super().delete(channel_id)
        except ChannelActive:
            forget(self._connection.tables, channel_id)
            return True


class DeletesTheReferred(MemoryChannelStore):
    """A parent goes before its children do."""

    async def delete(self, channel_id: ChannelId) -> bool:
        try:
            return await super().delete(channel_id)
        except ChannelReferred:
            forget(self._connection.tables, channel_id)
            return True


class LeavesImages(MemoryChannelStore):
    """A channel's images stay behind."""

    async def delete(self, channel_id: ChannelId) -> bool:
        before = dict(self._connection.tables.images)
        deleted = await super().delete(channel_id)
        self._connection.tables.images.update(before)
        return deleted


class HandsAliasesOn(MemoryChannelStore):
    """A former slug is free for the next channel that asks for it."""

    async def rename(
        self, channel_id: ChannelId, title: str, *, now: datetime, titles: TitlePolicy = TitlePolicy.REPEATABLE
    ) -> Changed:
        tables = self._connection.tables
        current = {(channel.repository.id, channel.slug) for channel in tables.channels.values()}
        former = {place: owner for place, owner in tables.slugs.items() if place not in current and owner != channel_id}
        for place in former:
            del tables.slugs[place]
        changed = await super().rename(channel_id, title, now=now, titles=titles)
        for place, owner in former.items():
            tables.slugs.setdefault(place, owner)
        return changed


class DescribesWithoutCounting(MemoryChannelStore):
    """A new description has the revision of the one before."""

    async def publish_description(self, channel_id: ChannelId, draft: DescriptionDraft, *, lease: Lease) -> Changed:
        changed = await super().publish_description(channel_id, draft, lease=lease)
        shown = changed.channel.description
        if shown is not None and shown.revision > 1:
            first = attrs.evolve(shown, revision=DescriptionRevision(1))
            changed = attrs.evolve(changed, channel=attrs.evolve(changed.channel, description=first))
            self._connection.tables.channels[channel_id] = changed.channel
        return changed


class CountsArchiving(MemoryChannelStore):
    """To put a channel away is a write of its document."""

    async def archive(self, channel_id: ChannelId, *, now: datetime) -> Changed:
        changed = await super().archive(channel_id, now=now)
        if changed.changed:
            moved = attrs.evolve(changed.channel, revision=StorageRevision(changed.channel.revision + 1))
            changed = attrs.evolve(changed, channel=moved)
            self._connection.tables.channels[channel_id] = moved
        return changed


active_deleted = memory.adapter(channels=DeletesTheActive)
referred_deleted = memory.adapter(channels=DeletesTheReferred)
images_left = memory.adapter(channels=LeavesImages)
aliases_handed_on = memory.adapter(channels=HandsAliasesOn)
description_not_counted = memory.adapter(channels=DescribesWithoutCounting)
archiving_counted = memory.adapter(channels=CountsArchiving)
