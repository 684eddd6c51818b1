"""Commits that change the title too: rare, so in a few statements more, under the repository's title lock."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import ChannelMissing
from chopin_core.ports.collaboration import Commit, CommitResult, TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg import commits, fences
from chopin_storage_pg.tables import channels
from chopin_storage_pg.titles import lock_titles, refuse_taken, repository_of, retitle


async def keep(connection: AsyncConnection, commit: Commit, change: TitleChange, lease: Lease) -> CommitResult:
    """The commit and its title in one transaction; whatever refuses either of them undoes both."""
    await fences.hold(connection, lease)
    try:
        repository_id = await repository_of(connection, commit.channel_id)
    except ChannelMissing:
        await fences.judge(connection, lease)
        raise
    await lock_titles(connection, repository_id)
    row = (await connection.exec_driver_sql(commits.ONE, (*commits.lease_arguments(lease), *commits.arguments(commit)))).one()
    former = await connection.scalar(select(channels.c.title).where(channels.c.id == commit.channel_id))
    renamed = row.outcome in ("kept", "event") and former != change.title
    if renamed:  # asked before the answer is given, because a taken title is reported before a repeated event
        await refuse_taken(connection, repository_id, commit.channel_id, change.title, change.titles)
    result = commits.answer(row, commit, lease)
    if renamed:
        await retitle(connection, repository_id, commit.channel_id, change.title, commit.now)
    return result
