"""Titles and the addresses made from them: one writer per repository at a time decides which are free."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.channel import SLUG_LENGTH, TitlePolicy, free_slug, slug_of, title_key
from chopin_core.errors import ChannelMissing, TitleTaken
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.research.workspace import numbered_title
from chopin_storage_pg.locks import TITLE_LOCKS
from chopin_storage_pg.tables import channel_search, channel_slugs, channels

_LONGEST_SUFFIX: Final = 11
"""A hyphen and ten digits: nobody has more documents of one title."""


async def lock_titles(connection: AsyncConnection, repository_id: RepositoryId) -> None:
    """
    Nobody else gives or changes a title of the repository until the transaction ends.

    To be taken before any channel's row is locked: two renames, or a rename and a create below it, would otherwise wait for
    each other.
    """
    await connection.execute(select(func.pg_advisory_xact_lock(TITLE_LOCKS, func.hashtext(repository_id))))


async def repository_of(connection: AsyncConnection, channel_id: ChannelId) -> RepositoryId:
    """
    The repository whose titles a channel belongs to; it is known before the channel is locked because it never changes.

    Raises:
        ChannelMissing: there is no such channel.
    """
    repository_id = await connection.scalar(select(channels.c.repository_id).where(channels.c.id == channel_id))
    if repository_id is None:
        raise ChannelMissing(channel_id)
    return RepositoryId(repository_id)


async def refuse_taken(
    connection: AsyncConnection, repository_id: RepositoryId, channel_id: ChannelId, title: str, titles: TitlePolicy
) -> None:
    """
    Raises:
        TitleTaken: the policy is UNIQUE and another channel of the repository has the title, case aside.
    """
    if titles is TitlePolicy.REPEATABLE:
        return
    other = select(channel_search.c.channel_id).where(
        and_(
            channel_search.c.title_key == title_key(title),
            channel_search.c.repository_id == repository_id,
            channel_search.c.channel_id != channel_id,
        )
    )
    if await connection.scalar(other.limit(1)) is not None:
        raise TitleTaken(title)


async def address(
    connection: AsyncConnection, repository_id: RepositoryId, channel_id: ChannelId, title: str, now: datetime
) -> str:
    """Give the channel the first free slug of the title as its canonical one; those it had stay its aliases."""
    stem = slug_of(title)[: SLUG_LENGTH - _LONGEST_SUFFIX].rstrip("-")
    others = await connection.scalars(
        select(channel_slugs.c.slug).where(
            and_(
                channel_slugs.c.repository_id == repository_id,
                channel_slugs.c.slug >= stem,
                channel_slugs.c.slug < stem + "\U0010ffff",
                channel_slugs.c.channel_id != channel_id,
            )
        )
    )
    slug = free_slug(title, set(others).__contains__)
    await connection.execute(
        update(channel_slugs).where(channel_slugs.c.channel_id == channel_id, channel_slugs.c.canonical).values(canonical=False)
    )
    await connection.execute(
        insert(channel_slugs)
        .values(repository_id=repository_id, slug=slug, channel_id=channel_id, canonical=True, created_at=now)
        .on_conflict_do_update(index_elements=[channel_slugs.c.repository_id, channel_slugs.c.slug], set_={"canonical": True})
    )
    return slug


async def retitle(
    connection: AsyncConnection, repository_id: RepositoryId, channel_id: ChannelId, title: str, now: datetime
) -> str:
    """Give an existing channel another title and what belongs to it, and answer its slug; activity is the caller's."""
    await connection.execute(update(channels).where(channels.c.id == channel_id).values(title=title))
    await connection.execute(
        update(channel_search).where(channel_search.c.channel_id == channel_id).values(title_key=title_key(title))
    )
    return await address(connection, repository_id, channel_id, title, now)


async def free_title_in(connection: AsyncConnection, repository_id: RepositoryId, title: str) -> str:
    """
    The title, or the first numbered one that no document of the repository has, case aside; see ``free_title``.

    Asked one by one: whoever publishes many reports of one title is rare, and its titles are short.
    """
    number = 0
    while True:
        candidate = numbered_title(title, number)
        taken = select(channel_search.c.channel_id).where(
            and_(channel_search.c.title_key == title_key(candidate), channel_search.c.repository_id == repository_id)
        )
        if await connection.scalar(taken.limit(1)) is None:
            return candidate
        number += 1
