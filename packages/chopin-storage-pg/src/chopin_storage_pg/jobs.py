"""The job store: the domain's rules, applied to rows that nobody else can move meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, func, insert, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import JobChannelRevision, TargetGeneration
from chopin_core.errors import ChannelArchived, ChannelMissing, IdempotencyConflict, InvalidField, JobExists, JobMissing
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import OPEN, ClaimToken, Job, JobState, Request
from chopin_core.jobs.progress import Step
from chopin_core.jsonvalue import Json, encode
from chopin_core.ports.jobs import CLAIM_LIMIT, PAGE_LIMIT, Enqueued, JobCursor, JobDetail, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.text import storable
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


class PgJobStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        encode(request.input)  # refused before anything is asked
        async with self._guarded(lease, {"background_jobs_pkey": JobExists(request.id)}) as connection:
            await _hold_channel(connection, request.channel_id)
            await fences.judge(connection, lease)
            if not await _exists(connection, request.channel_id):
                raise ChannelMissing(request.channel_id)
            earlier = background_jobs.c.idempotency_key == request.idempotency_key
            if known := await _jobs(connection, _of(request.channel_id).where(earlier)):
                if known[0].fingerprint != request.fingerprint:
                    raise IdempotencyConflict(request.idempotency_key)
                return Enqueued(job=known[0], repeated=True)
            if await connection.scalar(select(background_jobs.c.id).where(background_jobs.c.id == request.id)) is not None:
                raise JobExists(request.id)
            revision = await _raised(connection, request.channel_id)
            generation = await _next_generation(connection, request)
            same_target = background_jobs.c.target_key == request.target_key
            unfinished = background_jobs.c.state.in_([state.value for state in OPEN])
            for older in await _jobs(connection, _of(request.channel_id).where(same_target, unfinished)):
                await _write(connection, older.superseded(revision=revision, now=request.now))
            made = request.enqueued(revision, generation)
            await connection.execute(insert(background_jobs).values(**job_rows.born(made), **job_rows.moved(made)))
            return Enqueued(job=await _known(connection, made.id), repeated=False)

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        async with self._guarded(lease) as connection:
            await fences.judge(connection, lease)
            if not storable(owner, "owner") or count < 1 or ttl <= timedelta(0):
                raise InvalidField("claim", "needs an owner, a count and a time to live")
            if channel_id is not None and not rows.can_exist(channel_id):
                return ()
            due = await _jobs(
                connection, _due(channel_id, now).limit(min(count, CLAIM_LIMIT)).with_for_update(of=background_jobs)
            )
            await fences.judge(connection, lease)
            revisions = {id: await _raised(connection, id) for id in sorted({job.channel_id for job in due})}
            claimed = [
                job.claimed(owner=owner, until=rows.utc(now) + ttl, revision=revisions[job.channel_id], now=rows.utc(now))
                for job in due
            ]
            for job in claimed:
                await _write(connection, job)
            return tuple(claimed)

    async def renew(
        self, token: ClaimToken, *, ttl: timedelta, binding: Json, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        encode(binding)
        at = rows.utc(now)

        def renewed(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
            claim = job.refuse_unclaimed(token, current=current, now=at)
            return job.renewed(claim, until=at + ttl, binding=binding, expected=expected, revision=revision, now=at)

        return await self._move(token.channel_id, token.job_id, renewed, lease)

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        at = rows.utc(now)
        return await self._work(token, lambda job, revision: job.progressed(step, revision=revision, now=at), at, lease)

    async def requeue(
        self,
        token: ClaimToken,
        *,
        available_at: datetime,
        reason: str | None = None,
        count_failure: bool,
        now: datetime,
        lease: Lease,
    ) -> Job:
        _check(reason)
        at = rows.utc(now)

        def requeued(job: Job, revision: JobChannelRevision) -> Job:
            return job.requeued(
                available_at=rows.utc(available_at), reason=reason, count_failure=count_failure, revision=revision, now=at
            )

        return await self._work(token, requeued, at, lease)

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        text = encode(value)
        at = rows.utc(now)
        async with self._guarded(lease) as connection:
            settled = await _moved(
                connection,
                token.channel_id,
                token.job_id,
                _by_worker(token, lambda job, revision: job.settled(revision=revision, now=at), at),
                lease,
            )
            await connection.execute(
                insert(background_job_artifacts).values(job_id=settled.id, revision=settled.revision, value=text, created_at=at)
            )
            return await _detail(connection, settled)

    async def fail(self, token: ClaimToken, *, reason: str, now: datetime, lease: Lease) -> Job:
        _check(reason)
        at = rows.utc(now)
        return await self._work(token, lambda job, revision: job.failed(reason=reason, revision=revision, now=at), at, lease)

    async def pause(
        self, channel_id: ChannelId, job_id: JobId, *, reason: str, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        _check(reason)

        def paused(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
            job.refuse_uncontrolled(frozenset({JobState.PENDING, JobState.RUNNING}), expected=expected, current=current)
            return job.paused(reason=reason, revision=revision, now=rows.utc(now))

        return await self._move(channel_id, job_id, paused, lease)

    async def resume(
        self,
        channel_id: ChannelId,
        job_id: JobId,
        *,
        available_at: datetime,
        expected: JobChannelRevision,
        now: datetime,
        lease: Lease,
    ) -> Job:
        def resumed(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
            job.refuse_uncontrolled(frozenset({JobState.PAUSED}), expected=expected, current=current)
            return job.resumed(available_at=rows.utc(available_at), revision=revision, now=rows.utc(now))

        return await self._move(channel_id, job_id, resumed, lease)

    async def cancel(
        self,
        channel_id: ChannelId,
        job_id: JobId,
        *,
        reason: str | None = None,
        allow_archived: bool = False,
        now: datetime,
        lease: Lease,
    ) -> Job:
        _check(reason)

        def cancelled(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
            job.refuse_uncontrolled(OPEN, expected=None, current=current)
            return job.cancelled(reason=reason, revision=revision, now=rows.utc(now))

        async with self._guarded(lease) as connection:
            await _hold_channel(connection, channel_id, against_archiving=True)
            await fences.judge(connection, lease)
            if not await _exists(connection, channel_id):
                raise ChannelMissing(channel_id)
            archived = select(channels.c.archived_at.is_not(None)).where(channels.c.id == channel_id)
            if await connection.scalar(archived) and not allow_archived:
                raise ChannelArchived(channel_id)
            return await _moved(connection, channel_id, job_id, cancelled, lease)

    async def supersede(
        self,
        channel_id: ChannelId,
        job_id: JobId,
        *,
        reason: str | None = None,
        expected: JobChannelRevision,
        now: datetime,
        lease: Lease,
    ) -> Job:
        _check(reason)

        def superseded(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
            job.refuse_uncontrolled(OPEN, expected=expected, current=current)
            return job.superseded(reason=reason, revision=revision, now=rows.utc(now))

        return await self._move(channel_id, job_id, superseded, lease)

    async def list(self, channel_id: ChannelId, *, limit: int = 50, after: JobCursor | None = None) -> JobPage | None:
        size = min(max(limit, 1), PAGE_LIMIT)
        made, id = background_jobs.c.created_at, background_jobs.c.id
        query = _of(channel_id).order_by(made.desc(), id).limit(size + 1)
        if after is not None:
            query = query.where(or_(made < after.at, and_(made == after.at, id > after.id)))
        async with self._connections.reading() as connection:
            if not await _exists(connection, channel_id):
                return None
            revision = await _revision(connection, channel_id)
            jobs = await _jobs(connection, query)
        last = jobs[size - 1] if len(jobs) > size else None
        return JobPage(
            revision=revision,
            jobs=tuple(jobs[:size]),
            next=None if last is None else JobCursor(at=last.created_at, id=last.id),
        )

    async def get(self, channel_id: ChannelId, job_id: JobId) -> JobDetail | None:
        if not rows.can_exist(channel_id, job_id):
            return None
        async with self._connections.reading() as connection:
            found = await _jobs(connection, _of(channel_id).where(background_jobs.c.id == job_id))
            return await _detail(connection, found[0]) if found else None

    @asynccontextmanager
    async def _guarded(self, lease: Lease, constraints: dict[str, Any] | None = None) -> AsyncIterator[AsyncConnection]:
        """A transaction in which no other job moves; the lease is still to be judged, after the last wait."""
        async with self._connections.writing(constraints) as connection:
            await fences.hold(connection, lease)
            await connection.execute(select(func.pg_advisory_xact_lock(JOB_LOCK)))
            yield connection

    async def _move(self, channel_id: ChannelId, job_id: JobId, move: Move, lease: Lease) -> Job:
        async with self._guarded(lease) as connection:
            return await _moved(connection, channel_id, job_id, move, lease)

    async def _work(
        self, token: ClaimToken, move: Callable[[Job, JobChannelRevision], Job], now: datetime, lease: Lease
    ) -> Job:
        return await self._move(token.channel_id, token.job_id, _by_worker(token, move, now), lease)


def _by_worker(token: ClaimToken, move: Callable[[Job, JobChannelRevision], Job], now: datetime) -> Move:
    def moved(job: Job, current: TargetGeneration, revision: JobChannelRevision) -> Job:
        job.refuse_unclaimed(token, current=current, now=now)
        return move(job, revision)

    return moved


def _check(reason: str | None) -> None:
    if reason is not None:
        storable(reason, "reason")


def _of(channel_id: ChannelId) -> Select[Any]:
    return select(background_jobs).where(background_jobs.c.channel_id == channel_id)


def _due(channel_id: ChannelId | None, now: datetime) -> Select[Any]:
    due = func.coalesce(background_jobs.c.claim_expires_at, background_jobs.c.available_at)
    current = tuple_(background_job_targets.c.channel_id, background_job_targets.c.target_key) == tuple_(
        background_jobs.c.channel_id, background_jobs.c.target_key
    )
    query = (
        select(background_jobs)
        .join(background_job_targets, current)
        .where(
            background_jobs.c.state.in_([JobState.PENDING.value, JobState.RUNNING.value]),
            background_jobs.c.target_generation == background_job_targets.c.generation,
            due <= now,
        )
        .order_by(due, background_jobs.c.created_at, background_jobs.c.id)
    )
    return query if channel_id is None else query.where(background_jobs.c.channel_id == channel_id)


async def _jobs(connection: AsyncConnection, query: Select[Any]) -> list[Job]:
    return [job_rows.job(row) for row in await connection.execute(query)]


async def _known(connection: AsyncConnection, job_id: JobId) -> Job:
    return job_rows.job((await connection.execute(select(background_jobs).where(background_jobs.c.id == job_id))).one())


async def _hold_channel(connection: AsyncConnection, channel_id: ChannelId, *, against_archiving: bool = False) -> None:
    """Keep the channel from being deleted, or also archived, until the transaction ends."""
    if rows.can_exist(channel_id):
        await connection.execute(
            select(channels.c.id).where(channels.c.id == channel_id).with_for_update(read=True, key_share=not against_archiving)
        )


async def _exists(connection: AsyncConnection, channel_id: ChannelId) -> bool:
    known = select(channels.c.id).where(channels.c.id == channel_id)
    return rows.can_exist(channel_id) and await connection.scalar(known) is not None


async def _moved(connection: AsyncConnection, channel_id: ChannelId, job_id: JobId, move: Move, lease: Lease) -> Job:
    query = _of(channel_id).where(background_jobs.c.id == job_id).with_for_update()
    found = await _jobs(connection, query) if rows.can_exist(channel_id, job_id) else []
    await fences.judge(connection, lease)
    if not found:
        raise JobMissing(job_id)
    [job] = found
    current = await connection.scalar(
        select(background_job_targets.c.generation).where(
            background_job_targets.c.channel_id == job.channel_id, background_job_targets.c.target_key == job.target_key
        )
    )
    revision = JobChannelRevision(await _revision(connection, channel_id) + 1)
    moved = move(job, TargetGeneration(current or 0), revision)
    await _raised(connection, channel_id)
    await _write(connection, moved)
    return await _known(connection, moved.id)


async def _write(connection: AsyncConnection, job: Job) -> None:
    await connection.execute(update(background_jobs).where(background_jobs.c.id == job.id).values(**job_rows.moved(job)))


async def _revision(connection: AsyncConnection, channel_id: ChannelId) -> JobChannelRevision:
    kept = await connection.scalar(
        select(background_job_channels.c.revision).where(background_job_channels.c.channel_id == channel_id)
    )
    return JobChannelRevision(rows.count(kept or 0, f"jobs of channel {channel_id}", "revision"))


async def _raised(connection: AsyncConnection, channel_id: ChannelId) -> JobChannelRevision:
    first = upsert(background_job_channels).values(channel_id=channel_id, revision=1)
    result = await connection.execute(
        first.on_conflict_do_update(
            index_elements=[background_job_channels.c.channel_id], set_={"revision": background_job_channels.c.revision + 1}
        ).returning(background_job_channels.c.revision)
    )
    return JobChannelRevision(result.scalar_one())


async def _next_generation(connection: AsyncConnection, request: Request) -> TargetGeneration:
    first = upsert(background_job_targets).values(channel_id=request.channel_id, target_key=request.target_key, generation=1)
    result = await connection.execute(
        first.on_conflict_do_update(
            index_elements=[background_job_targets.c.channel_id, background_job_targets.c.target_key],
            set_={"generation": background_job_targets.c.generation + 1},
        ).returning(background_job_targets.c.generation)
    )
    return TargetGeneration(result.scalar_one())


async def _detail(connection: AsyncConnection, job: Job) -> JobDetail:
    row = (
        await connection.execute(select(background_job_artifacts).where(background_job_artifacts.c.job_id == job.id))
    ).one_or_none()
    current = await connection.scalar(
        select(background_job_targets.c.generation).where(
            background_job_targets.c.channel_id == job.channel_id, background_job_targets.c.target_key == job.target_key
        )
    )
    return JobDetail(
        revision=await _revision(connection, job.channel_id),
        job=job,
        current=current == job.target_generation,
        artifact=None if row is None else job_rows.artifact(row),
    )
