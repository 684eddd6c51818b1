"""Background jobs in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import attrs

from chopin_core.counters import JobChannelRevision, TargetGeneration
from chopin_core.errors import ChannelArchived, IdempotencyConflict, JobExists, JobMissing
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import OPEN, ClaimToken, Job, JobState, Request, refuse_unfit_claim
from chopin_core.jobs.progress import Step
from chopin_core.jsonvalue import Json, decode, encode
from chopin_core.memory.channels import channel_of
from chopin_core.memory.leases import fenced
from chopin_core.memory.tables import Connection, Tables, utc
from chopin_core.ports.jobs import CLAIM_LIMIT, PAGE_LIMIT, Artifact, Enqueued, JobCursor, JobDetail, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.text import storable

Move = Callable[[Job, JobChannelRevision], Job]
"""The job as it will be, under the channel's next revision; or a refusal."""


@attrs.frozen
class MemoryJobStore:
    _connection: Connection

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        input = _copied(request.input)
        tables = await fenced(self._connection, lease)
        channel_of(tables, request.channel_id)
        for job in _of(tables, request.channel_id):
            if job.idempotency_key == request.idempotency_key:
                if job.fingerprint != request.fingerprint:
                    raise IdempotencyConflict(request.idempotency_key)
                return Enqueued(job=_out(job), repeated=True)
        if request.id in tables.jobs:
            raise JobExists(request.id)
        target = request.channel_id, request.target_key
        generation = TargetGeneration(tables.job_targets.get(target, 0) + 1)
        revision = _next(tables, request.channel_id)
        older = [job for job in _of(tables, request.channel_id) if job.target_key == request.target_key and job.open]
        moved = [job.superseded(revision=revision, now=utc(request.now)) for job in older]
        made = attrs.evolve(
            request.enqueued(revision, generation),
            input=input,
            available_at=utc(request.available_at),
            created_at=utc(request.now),
            updated_at=utc(request.now),
        )
        tables.job_targets[target] = generation
        _keep(tables, [*moved, made])
        return Enqueued(job=_out(made), repeated=False)

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        refuse_unfit_claim(owner=owner, count=count, ttl=ttl)
        tables = await fenced(self._connection, lease)
        due = sorted(
            (
                job
                for job in tables.jobs.values()
                if (channel_id is None or job.channel_id == channel_id)
                and job.target_generation == _generation(tables, job)
                and job.claimable(now)
            ),
            key=lambda job: (job.due(), job.created_at, job.id),
        )[: min(count, CLAIM_LIMIT)]
        revisions = {job.channel_id: _next(tables, job.channel_id) for job in due}
        claimed = [
            job.claimed(owner=owner, until=utc(now) + ttl, revision=revisions[job.channel_id], now=utc(now)) for job in due
        ]
        _keep(tables, claimed)
        return tuple(_out(job) for job in claimed)

    async def renew(
        self, token: ClaimToken, *, ttl: timedelta, binding: Json, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        copied = _copied(binding)
        tables = await fenced(self._connection, lease)
        job = _found(tables, token.channel_id, token.job_id)
        claim = job.refuse_unclaimed(token, current=_generation(tables, job), now=now)
        return _moved(
            tables,
            job,
            lambda job, revision: job.renewed(
                claim, until=utc(now) + ttl, binding=copied, expected=expected, revision=revision, now=utc(now)
            ),
        )

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        return await self._by_worker(token, now, lease, lambda job, at: job.progressed(step, revision=at, now=utc(now)))

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
        return await self._by_worker(
            token,
            now,
            lease,
            lambda job, at: job.requeued(
                available_at=utc(available_at), reason=reason, count_failure=count_failure, revision=at, now=utc(now)
            ),
        )

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        copied = _copied(value)
        tables = await fenced(self._connection, lease)
        job = _found(tables, token.channel_id, token.job_id)
        job.refuse_unclaimed(token, current=_generation(tables, job), now=now)
        settled = _moved(tables, job, lambda job, at: job.settled(revision=at, now=utc(now)))
        tables.artifacts[job.id] = Artifact(job_id=job.id, revision=settled.revision, value=copied, created_at=utc(now))
        return _detail(tables, settled)

    async def fail(self, token: ClaimToken, *, reason: str, now: datetime, lease: Lease) -> Job:
        _check(reason)
        return await self._by_worker(token, now, lease, lambda job, at: job.failed(reason=reason, revision=at, now=utc(now)))

    async def pause(
        self, channel_id: ChannelId, job_id: JobId, *, reason: str, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        _check(reason)
        tables = await fenced(self._connection, lease)
        job = _found(tables, channel_id, job_id)
        allowed = frozenset({JobState.PENDING, JobState.RUNNING})
        job.refuse_uncontrolled(allowed, expected=expected, current=_generation(tables, job))
        return _moved(tables, job, lambda job, at: job.paused(reason=reason, revision=at, now=utc(now)))

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
        tables = await fenced(self._connection, lease)
        job = _found(tables, channel_id, job_id)
        allowed = frozenset({JobState.PAUSED})
        job.refuse_uncontrolled(allowed, expected=expected, current=_generation(tables, job))
        return _moved(tables, job, lambda job, at: job.resumed(available_at=utc(available_at), revision=at, now=utc(now)))

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
        tables = await fenced(self._connection, lease)
        if channel_of(tables, channel_id).archived and not allow_archived:
            raise ChannelArchived(channel_id)
        job = _found(tables, channel_id, job_id)
        job.refuse_uncontrolled(OPEN, expected=None, current=_generation(tables, job))
        return _moved(tables, job, lambda job, at: job.cancelled(reason=reason, revision=at, now=utc(now)))

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
        tables = await fenced(self._connection, lease)
        job = _found(tables, channel_id, job_id)
        job.refuse_uncontrolled(OPEN, expected=expected, current=_generation(tables, job))
        return _moved(tables, job, lambda job, at: job.superseded(reason=reason, revision=at, now=utc(now)))

    async def list(self, channel_id: ChannelId, *, limit: int = 50, after: JobCursor | None = None) -> JobPage | None:
        tables = await self._connection.turn()
        if channel_id not in tables.channels:
            return None
        jobs = sorted(sorted(_of(tables, channel_id), key=lambda job: job.id), key=lambda job: job.created_at, reverse=True)
        if after is not None:
            at, id = utc(after.at), after.id
            jobs = [job for job in jobs if job.created_at < at or (job.created_at == at and job.id > id)]
        size = min(max(limit, 1), PAGE_LIMIT)
        last = jobs[size - 1] if len(jobs) > size else None
        return JobPage(
            revision=tables.job_revisions.get(channel_id, JobChannelRevision(0)),
            jobs=tuple(_out(job) for job in jobs[:size]),
            next=None if last is None else JobCursor(at=last.created_at, id=last.id),
        )

    async def get(self, channel_id: ChannelId, job_id: JobId) -> JobDetail | None:
        tables = await self._connection.turn()
        job = tables.jobs.get(job_id)
        return None if job is None or job.channel_id != channel_id else _detail(tables, job)

    async def _by_worker(self, token: ClaimToken, now: datetime, lease: Lease, move: Move) -> Job:
        tables = await fenced(self._connection, lease)
        job = _found(tables, token.channel_id, token.job_id)
        job.refuse_unclaimed(token, current=_generation(tables, job), now=now)
        return _moved(tables, job, move)


def _check(reason: str | None) -> None:
    if reason is not None:
        storable(reason, "reason")


def _copied(value: Json) -> Json:
    return decode(encode(value), "job")


def _out(job: Job) -> Job:
    """A copy that shares nothing that can be changed."""
    claim = None if job.claim is None else attrs.evolve(job.claim, binding=_copied(job.claim.binding))
    return attrs.evolve(job, input=_copied(job.input), claim=claim)


def _of(tables: Tables, channel_id: ChannelId) -> list[Job]:
    return [job for job in tables.jobs.values() if job.channel_id == channel_id]


def _found(tables: Tables, channel_id: ChannelId, job_id: JobId) -> Job:
    job = tables.jobs.get(job_id)
    if job is None or job.channel_id != channel_id:
        raise JobMissing(job_id)
    return job


def _generation(tables: Tables, job: Job) -> TargetGeneration:
    return tables.job_targets[job.channel_id, job.target_key]


def _next(tables: Tables, channel_id: ChannelId) -> JobChannelRevision:
    """The channel's next job revision; kept with the jobs that bear it, so a refusal raises nothing."""
    return JobChannelRevision(tables.job_revisions.get(channel_id, 0) + 1)


def _keep(tables: Tables, jobs: Iterable[Job]) -> None:
    for job in jobs:
        tables.jobs[job.id] = job
        tables.job_revisions[job.channel_id] = job.revision


def _moved(tables: Tables, job: Job, move: Move) -> Job:
    moved = move(job, _next(tables, job.channel_id))
    _keep(tables, [moved])
    return _out(moved)


def _detail(tables: Tables, job: Job) -> JobDetail:
    artifact = tables.artifacts.get(job.id)
    return JobDetail(
        revision=tables.job_revisions[job.channel_id],
        job=_out(job),
        current=job.target_generation == _generation(tables, job),
        artifact=None if artifact is None else attrs.evolve(artifact, value=_copied(artifact.value)),
    )
