"""Pages that lose a channel or show it twice where several have the same instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from chopin_core.channel import Channel
from chopin_core.ids import RepositoryId
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.ports.channels import PAGE_LIMIT, Cursor, Page

from mutants import memory


class NoTieBreak(MemoryChannelStore):
    """Channels of one instant come as they happen to lie, and a cursor's instant is over with its page."""

    async def list(self, repository_id: RepositoryId, *, limit: int = 50, after: Cursor | None = None, **given: Any) -> Page:
        everything = await super().list(repository_id, limit=PAGE_LIMIT, **given)
        return self._page(everything.channels, lambda channel: channel.updated_at, limit, after)

    async def scan(self, repository_id: RepositoryId, *, limit: int = 50, after: Cursor | None = None, **given: Any) -> Page:
        everything = await super().scan(repository_id, limit=PAGE_LIMIT, **given)
        return self._page(everything.channels, lambda channel: channel.created_at, limit, after)

    def _page(self, channels: Iterable[Channel], at: Callable[[Channel], datetime], limit: int, after: Cursor | None) -> Page:
        order = list(self._connection.tables.channels)
        shown = sorted(sorted(channels, key=lambda channel: order.index(channel.id)), key=at, reverse=True)
        left = [channel for channel in shown if after is None or at(channel) < after.at]
        page = left[: min(max(limit, 1), PAGE_LIMIT)]
        last = page[-1] if len(left) > len(page) else None
        return Page(channels=tuple(page), next=None if last is None else Cursor(at=at(last), id=last.id))


without_tie_break = memory.adapter(channels=NoTieBreak)
