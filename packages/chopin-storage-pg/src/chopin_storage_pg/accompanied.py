"""Commits that change a title or the blocks of research too: rare, so in a few statements more, under the locks of both."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.errors import ChannelMissing
from chopin_core.ids import RepositoryId
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_storage_pg import commits, fences, job_moves, research_moves
from chopin_storage_pg.tables import channels
from chopin_storage_pg.titles import lock_titles, refuse_taken, repository_of, retitle


async def keep(connection: AsyncConnection, commit: Commit, lease: Lease) -> CommitResult:
    """The commit and what goes with it in one transaction; whatever refuses any of it undoes all."""
    await fences.hold(connection, lease)
    if commit.projections:
        await job_moves.hold_still(connection)
    repository_id = await _locked_titles(connection, commit, lease) if commit.title is not None else None
    row = (await connection.exec_driver_sql(commits.ONE, (*commits.lease_arguments(lease), *commits.arguments(commit)))).one()
    # Asked before the answer is given: a repeated event is reported after everything here.
    written = row.outcome in ("kept", "event")
    if written:
        await _refuse_projections(connection, commit)
    if not written or commit.title is None or repository_id is None:
        return commits.answer(row, commit, lease)
    former = await connection.scalar(select(channels.c.title).where(channels.c.id == commit.channel_id))
    renamed = former != commit.title.title
    if renamed:
        await refuse_taken(connection, repository_id, commit.channel_id, commit.title.title, commit.title.titles)
    result = commits.answer(row, commit, lease)
    if renamed:
        await retitle(connection, repository_id, commit.channel_id, commit.title.title, commit.now)
    return result


async def _locked_titles(connection: AsyncConnection, commit: Commit, lease: Lease) -> RepositoryId:
    try:
        repository_id = await repository_of(connection, commit.channel_id)
    except ChannelMissing:
        await fences.judge(connection, lease)
        raise
    await lock_titles(connection, repository_id)
    return repository_id


async def _refuse_projections(connection: AsyncConnection, commit: Commit) -> None:
    for change in sorted(commit.projections, key=lambda change: change.workspace_id):
        change.refuse_unfit(*await research_moves.bearing_on(connection, commit.channel_id, change.workspace_id))
