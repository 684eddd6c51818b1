"""The job store: the domain's rules, applied to rows that nobody else can move meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, insert, or_, select

from chopin_core.counters import JobChannelRevision, TargetGeneration
from chopin_core.errors import ChannelArchived, ChannelMissing, IdempotencyConflict, JobExists
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import OPEN, ClaimToken, Job, JobState, Request, refuse_unfit_claim
from chopin_core.jobs.progress import Step
from chopin_core.jsonvalue import Json, encode
from chopin_core.ports.jobs import CLAIM_LIMIT, PAGE_LIMIT, Enqueued, JobCursor, JobDetail, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.text import storable
from chopin_storage_pg import fences, job_moves, job_rows, rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.job_moves import Move
from chopin_storage_pg.tables import background_job_artifacts, background_jobs, channels


class PgJobStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        encode(request.input)  # refused before anything is asked
        channel_id, possible = request.channel_id, rows.can_exist(request.channel_id)
        exists = {"background_jobs_pkey": JobExists(request.id)}
        async with job_moves.guarded(self._connections, lease, exists) as connection:
            missing = await job_moves.hold_channel(connection, channel_id) is None
            older = await job_moves.jobs(connection, _unfinished(request).with_for_update()) if possible else []
            await fences.judge(connection, lease)
            if missing:
                raise ChannelMissing(channel_id)
            earlier = background_jobs.c.idempotency_key == request.idempotency_key
            if known := await job_moves.jobs(connection, job_moves.jobs_of(channel_id).where(earlier)):
                if known[0].fingerprint != request.fingerprint:
                    raise IdempotencyConflict(request.idempotency_key)
                return Enqueued(job=known[0], repeated=True)
            if await connection.scalar(select(background_jobs.c.id).where(background_jobs.c.id == request.id)) is not None:
                raise JobExists(request.id)
            revision = await job_moves.raised(connection, channel_id)
            generation = await job_moves.next_generation(connection, channel_id, request.target_key)
            for job in older:
                await job_moves.write(connection, job.superseded(revision=revision, now=request.now))
            made = request.enqueued(revision, generation)
            await connection.execute(insert(background_jobs).values(**job_rows.born(made), **job_rows.moved(made)))
            return Enqueued(job=await job_moves.known(connection, made.id), repeated=False)

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        refuse_unfit_claim(owner=owner, count=count, ttl=ttl)
        at = rows.utc(now)
        async with job_moves.guarded(self._connections, lease) as connection:
            due: list[Job] = []
            if channel_id is None or rows.can_exist(channel_id):
                due = await job_moves.jobs(connection, job_moves.due(channel_id, now).limit(min(count, CLAIM_LIMIT)))
                await job_moves.hold_jobs(connection, background_jobs.c.id.in_([job.id for job in due]))
            await fences.judge(connection, lease)
            channel_ids = sorted({job.channel_id for job in due})
            revisions = {channel_id: await job_moves.raised(connection, channel_id) for channel_id in channel_ids}
            claimed = [job.claimed(owner=owner, until=at + ttl, revision=revisions[job.channel_id], now=at) for job in due]
            for job in claimed:
                await job_moves.write(connection, job)
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
        async with job_moves.guarded(self._connections, lease) as connection:
            settled = await job_moves.moved(
                connection,
                token.channel_id,
                token.job_id,
                _by_worker(token, lambda job, revision: job.settled(revision=revision, now=at), at),
                lease,
            )
            await connection.execute(
                insert(background_job_artifacts).values(job_id=settled.id, revision=settled.revision, value=text, created_at=at)
            )
            return await job_moves.detail(connection, settled)

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

        async with job_moves.guarded(self._connections, lease) as connection:
            archived = await job_moves.hold_channel(connection, channel_id, against_archiving=True)
            await fences.judge(connection, lease)
            if archived is None:
                raise ChannelMissing(channel_id)
            if archived and not allow_archived:
                raise ChannelArchived(channel_id)
            return await job_moves.moved(connection, channel_id, job_id, cancelled, lease)

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
        if not rows.can_exist(channel_id):
            return None
        size = min(max(limit, 1), PAGE_LIMIT)
        made, id = background_jobs.c.created_at, background_jobs.c.id
        query = job_moves.jobs_of(channel_id).order_by(made.desc(), id).limit(size + 1)
        if after is not None:
            query = query.where(or_(made < after.at, and_(made == after.at, id > after.id)))
        async with self._connections.reading() as connection:
            if await connection.scalar(select(channels.c.id).where(channels.c.id == channel_id)) is None:
                return None
            revision = await job_moves.revision(connection, channel_id)
            jobs = await job_moves.jobs(connection, query)
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
            found = await job_moves.jobs(connection, job_moves.jobs_of(channel_id).where(background_jobs.c.id == job_id))
            return await job_moves.detail(connection, found[0]) if found else None

    async def _move(self, channel_id: ChannelId, job_id: JobId, move: Move, lease: Lease) -> Job:
        async with job_moves.guarded(self._connections, lease) as connection:
            return await job_moves.moved(connection, channel_id, job_id, move, lease)

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


def _unfinished(request: Request) -> Select[Any]:
    """The jobs that the requested one supersedes."""
    return job_moves.jobs_of(request.channel_id).where(
        background_jobs.c.target_key == request.target_key,
        background_jobs.c.state.in_([state.value for state in OPEN]),
    )
