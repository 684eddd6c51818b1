"""The two lists of a repository's channels: by activity for people, by creation for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Select, and_, or_, select

from chopin_core.channel import Channel
from chopin_core.ids import RepositoryId
from chopin_core.ports.channels import PAGE_LIMIT, Cursor, Page
from chopin_storage_pg import rows
from chopin_storage_pg.tables import channel_search, channels

Order: TypeAlias = Literal["updated_at", "created_at"]
ACTIVITY: Final[Order] = "updated_at"
CREATION: Final[Order] = "created_at"

_PARENTS = channels.alias("parents")


def listed(repository_id: RepositoryId, query: str, include_archived: bool) -> Select[Any]:
    """What ``ChannelStore.list`` shows, in no order yet."""
    shown = rows.CHANNEL.where(channels.c.repository_id == repository_id)
    if not include_archived:
        away = select(_PARENTS.c.id).where(_PARENTS.c.id == channels.c.parent_channel_id, _PARENTS.c.archived_at.is_not(None))
        shown = shown.where(
            channels.c.archived_at.is_(None), or_(channels.c.parent_channel_id.is_(None), ~away.correlate(channels).exists())
        )
    if query:
        part = f"%{_literal(query.lower())}%"
        shown = shown.join(channel_search, channel_search.c.channel_id == channels.c.id).where(
            channel_search.c.repository_id == repository_id,
            or_(channel_search.c.title_key.like(part), channel_search.c.description_key.like(part)),
        )
    return shown


def scanned(repository_id: RepositoryId, include_archived: bool) -> Select[Any]:
    """What ``ChannelStore.scan`` shows, in no order yet."""
    shown = rows.CHANNEL.where(channels.c.repository_id == repository_id)
    return shown if include_archived else shown.where(channels.c.archived_at.is_(None))


def page_of(shown: Select[Any], order: Order, limit: int, after: Cursor | None) -> Select[Any]:
    """One page of them and one row more, which tells whether there is a next page."""
    at = channels.c[order]
    if after is not None:
        # The first half bounds the walk along the index; the second leaves out the rest of the cursor's own instant.
        shown = shown.where(and_(at <= after.at, or_(at < after.at, channels.c.id > after.id)))
    return shown.order_by(at.desc(), channels.c.id).limit(_size(limit) + 1)


def page(found: Sequence[Channel], order: Order, limit: int) -> Page:
    shown = tuple(found[: _size(limit)])
    if len(found) == len(shown):
        return Page(channels=shown, next=None)
    at: datetime = getattr(shown[-1], order)
    return Page(channels=shown, next=Cursor(at=at, id=shown[-1].id))


def _size(limit: int) -> int:
    return min(max(limit, 1), PAGE_LIMIT)


def _literal(part: str) -> str:
    """The part with what LIKE would take for a pattern made to stand for itself."""
    return part.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
