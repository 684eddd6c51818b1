"""Moving jobs inside a transaction: which locks that takes, in which order, and what it reads and writes under them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import JobChannelRevision, TargetGeneration
from chopin_core.errors import ChopinError, JobMissing
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Job, JobState
from chopin_core.ports.jobs import JobDetail
from chopin_core.ports.leases import Lease
from chopin_storage_pg import fences, job_rows, rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.locks import JOB_LOCK
from chopin_storage_pg.tables import (
    background_job_artifacts,
    background_job_channels,
    background_job_targets,
    background_jobs,
    channels,
)

Move = Callable[[Job, TargetGeneration, JobChannelRevision], Job]
"""The job as it will be, given its target's current generation and the channel's next revision; or a refusal."""


@asynccontextmanager
async def guarded(
    connections: Connections, lease: Lease, constraints: Mapping[str, ChopinError] | None = None
) -> AsyncIterator[AsyncConnection]:
    """A transaction in which no other job moves. The lease is still to be judged, after the last wait for a lock."""
    async with connections.writing(constraints) as connection:
        await fences.hold(connection, lease)
        await hold_still(connection)
        yield connection


async def hold_still(connection: AsyncConnection) -> None:
    """Let no other job or research request move until the transaction ends. To be asked after the lease, before titles."""
    await connection.execute(select(func.pg_advisory_xact_lock(JOB_LOCK)))


async def moved(connection: AsyncConnection, channel_id: ChannelId, job_id: JobId, move: Move, lease: Lease) -> Job:
    """The job after the move, which raises the channel's counter; a refusal leaves both as they were."""
    await hold_channel(connection, channel_id)
    found: list[Job] = []
    if rows.can_exist(channel_id, job_id):
        found = await jobs(connection, jobs_of(channel_id).where(background_jobs.c.id == job_id).with_for_update())
    await fences.judge(connection, lease)
    if not found:
        raise JobMissing(job_id)
    [job] = found
    next_revision = JobChannelRevision(await revision(connection, channel_id) + 1)
    after = move(job, await generation(connection, job), next_revision)
    await raised(connection, channel_id)
    await write(connection, after)
    return await known(connection, after.id)


async def hold_channel(connection: AsyncConnection, channel_id: ChannelId, *, against_archiving: bool = False) -> bool | None:
    """
    Keep the channel from being deleted, or also archived, until the transaction ends; whether it is archived, None if there
    is none.

    Before any of its jobs is locked: a deletion has the channel first and its jobs afterwards, too.
    """
    if not rows.can_exist(channel_id):
        return None
    archived: bool | None = await connection.scalar(
        select(channels.c.archived_at.is_not(None))
        .where(channels.c.id == channel_id)
        .with_for_update(read=True, key_share=not against_archiving)
    )
    return archived


async def hold_jobs(connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Wait for whoever read these jobs in order to write elsewhere, and keep others from that until the transaction ends."""
    await connection.execute(select(background_jobs.c.id).where(which).order_by(background_jobs.c.id).with_for_update())


def jobs_of(channel_id: ChannelId) -> Select[Any]:
    return select(background_jobs).where(background_jobs.c.channel_id == channel_id)


def due(channel_id: ChannelId | None, now: datetime) -> Select[Any]:
    """What a worker may claim, in order; the channels of what comes out are held as by :func:`hold_channel`."""
    at = func.coalesce(background_jobs.c.claim_expires_at, background_jobs.c.available_at)
    target = tuple_(background_job_targets.c.channel_id, background_job_targets.c.target_key) == tuple_(
        background_jobs.c.channel_id, background_jobs.c.target_key
    )
    query = (
        select(background_jobs)
        .join(background_job_targets, target)
        .join(channels, channels.c.id == background_jobs.c.channel_id)
        .where(
            background_jobs.c.state.in_([JobState.PENDING.value, JobState.RUNNING.value]),
            background_jobs.c.target_generation == background_job_targets.c.generation,
            at <= now,
        )
        .order_by(at, background_jobs.c.created_at, background_jobs.c.id)
        .with_for_update(of=channels, read=True, key_share=True)
    )
    return query if channel_id is None else query.where(background_jobs.c.channel_id == channel_id)


async def jobs(connection: AsyncConnection, query: Select[Any]) -> list[Job]:
    return [job_rows.job(row) for row in await connection.execute(query)]


async def known(connection: AsyncConnection, job_id: JobId) -> Job:
    return job_rows.job((await connection.execute(select(background_jobs).where(background_jobs.c.id == job_id))).one())


async def write(connection: AsyncConnection, job: Job) -> None:
    await connection.execute(update(background_jobs).where(background_jobs.c.id == job.id).values(**job_rows.moved(job)))


async def revision(connection: AsyncConnection, channel_id: ChannelId) -> JobChannelRevision:
    kept = await connection.scalar(
        select(background_job_channels.c.revision).where(background_job_channels.c.channel_id == channel_id)
    )
    return JobChannelRevision(rows.count(kept or 0, f"jobs of channel {channel_id}", "revision"))


async def raised(connection: AsyncConnection, channel_id: ChannelId) -> JobChannelRevision:
    first = insert(background_job_channels).values(channel_id=channel_id, revision=1)
    result = await connection.execute(
        first.on_conflict_do_update(
            index_elements=[background_job_channels.c.channel_id], set_={"revision": background_job_channels.c.revision + 1}
        ).returning(background_job_channels.c.revision)
    )
    return JobChannelRevision(result.scalar_one())


async def generation(connection: AsyncConnection, job: Job) -> TargetGeneration:
    """The current one of the job's target."""
    kept = await connection.scalar(
        select(background_job_targets.c.generation).where(
            background_job_targets.c.channel_id == job.channel_id, background_job_targets.c.target_key == job.target_key
        )
    )
    return TargetGeneration(rows.count(kept or 0, f"target of job {job.id}", "generation", least=1))


async def next_generation(connection: AsyncConnection, channel_id: ChannelId, target_key: str) -> TargetGeneration:
    first = insert(background_job_targets).values(channel_id=channel_id, target_key=target_key, generation=1)
    result = await connection.execute(
        first.on_conflict_do_update(
            index_elements=[background_job_targets.c.channel_id, background_job_targets.c.target_key],
            set_={"generation": background_job_targets.c.generation + 1},
        ).returning(background_job_targets.c.generation)
    )
    return TargetGeneration(result.scalar_one())


async def detail(connection: AsyncConnection, job: Job) -> JobDetail:
    artifacts = select(background_job_artifacts).where(background_job_artifacts.c.job_id == job.id)
    row = (await connection.execute(artifacts)).one_or_none()
    return JobDetail(
        revision=await revision(connection, job.channel_id),
        job=job,
        current=await generation(connection, job) == job.target_generation,
        artifact=None if row is None else job_rows.artifact(row),
    )
