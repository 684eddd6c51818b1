"""Titles that two channels get although one asked that they do not, and addresses that are lost."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.channel import Channel, TitlePolicy, title_key
from chopin_core.ids import ChannelId
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.ports.channels import Changed, ChannelCreate

from mutants import memory


class DecidesOutsideTheLock(MemoryChannelStore):
    """Whether a new channel's title is taken is asked in one step, and it is given in the next."""

    async def create(self, creation: ChannelCreate) -> Channel:
        if creation.titles is TitlePolicy.UNIQUE and creation.id not in self._connection.tables.channels:
            tables = await self._connection.turn()
            for other in tables.channels.values():
                same = title_key(other.title) == title_key(creation.title)
                if same and other.repository.id == creation.repository.id:
                    return await super().create(creation)
            creation = attrs.evolve(creation, titles=TitlePolicy.REPEATABLE)
        return await super().create(creation)


class ForgetsFormerSlugs(MemoryChannelStore):
    """After a rename only the new address leads to the channel."""

    async def rename(
        self, channel_id: ChannelId, title: str, *, now: datetime, titles: TitlePolicy = TitlePolicy.REPEATABLE
    ) -> Changed:
        changed = await super().rename(channel_id, title, now=now, titles=titles)
        slugs = self._connection.tables.slugs
        for key in [key for key, id in slugs.items() if id == channel_id and key[1] != changed.channel.slug]:
            del slugs[key]
        return changed


decided_outside_the_lock = memory.adapter(channels=DecidesOutsideTheLock)
former_slugs_forgotten = memory.adapter(channels=ForgetsFormerSlugs)
