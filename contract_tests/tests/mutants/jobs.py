"""Jobs that two workers have, that come back after their end, or that count what was refused."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import attrs

from chopin_core.counters import JobChannelRevision
from chopin_core.errors import ChopinError, JobMoved
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import ClaimToken, Job, JobState, Request
from chopin_core.jobs.progress import Step
from chopin_core.jsonvalue import Json
from chopin_core.memory.jobs import MemoryJobStore
from chopin_core.ports.jobs import Enqueued, JobDetail
from chopin_core.ports.leases import Lease
from chopin_storage_pg import job_moves

from mutants import memory, postgres


class AnyClaim(MemoryJobStore):
    """Whoever once claimed a job is let at it, also when another worker has it by now."""

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        return await super().progress(self._current(token), step, now=now, lease=lease)

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        return await super().settle(self._current(token), value, now=now, lease=lease)

    async def fail(self, token: ClaimToken, *, reason: str, now: datetime, lease: Lease) -> Job:
        return await super().fail(self._current(token), reason=reason, now=now, lease=lease)

    def _current(self, token: ClaimToken) -> ClaimToken:
        job = self._connection.tables.jobs.get(token.job_id)
        if job is None or job.claim is None or token.generation > job.token.generation:
            return token
        return attrs.evolve(token, owner=job.claim.owner, generation=job.token.generation)


class ClaimsInTwoSteps(MemoryJobStore):
    """What is due is looked up in one step and claimed in the next."""

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        tables = self._connection.tables
        due = [job for job in tables.jobs.values() if job.claimable(now) and channel_id in (None, job.channel_id)]
        await self._connection.turn()
        for job in due:
            tables.jobs[job.id] = job
        return await super().claim(owner=owner, count=count, ttl=ttl, now=now, lease=lease, channel_id=channel_id)


class NoExpiry(MemoryJobStore):
    """A claim holds until another worker has the job."""

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        return await super().progress(token, step, now=self._held(token, now), lease=lease)

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        return await super().settle(token, value, now=self._held(token, now), lease=lease)

    async def fail(self, token: ClaimToken, *, reason: str, now: datetime, lease: Lease) -> Job:
        return await super().fail(token, reason=reason, now=self._held(token, now), lease=lease)

    def _held(self, token: ClaimToken, now: datetime) -> datetime:
        job = self._connection.tables.jobs.get(token.job_id)
        if job is None or job.claim is None:
            return now
        return min(now, job.claim.expires_at - timedelta(microseconds=1))


class NeverDueAgain(MemoryJobStore):
    """What a worker took and did not bring back is lost."""

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        jobs = self._connection.tables.jobs
        running = {id: job for id, job in jobs.items() if job.state is JobState.RUNNING}
        for id in running:
            del jobs[id]
        try:
            return await super().claim(owner=owner, count=count, ttl=ttl, now=now, lease=lease, channel_id=channel_id)
        finally:
            jobs.update(running)


class CountsRefusals(MemoryJobStore):
    """A refused move has used up a revision."""

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        try:
            return await super().settle(token, value, now=now, lease=lease)
        except ChopinError:
            _count(self, token.channel_id)
            raise

    async def cancel(self, channel_id: ChannelId, job_id: JobId, *, now: datetime, lease: Lease, **given: Any) -> Job:
        try:
            return await super().cancel(channel_id, job_id, now=now, lease=lease, **given)
        except ChopinError:
            _count(self, channel_id)
            raise


class CountsRepeats(MemoryJobStore):
    """A request that is there already moves the counter all the same."""

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        enqueued = await super().enqueue(request, lease=lease)
        if enqueued.repeated:
            _count(self, request.channel_id)
        return enqueued


class ComparesNothing(MemoryJobStore):
    """A key that is in use is a repeat, whatever the request."""

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        for job in self._connection.tables.jobs.values():
            if (job.channel_id, job.idempotency_key) == (request.channel_id, request.idempotency_key):
                request = attrs.evolve(request, fingerprint=job.fingerprint)
        return await super().enqueue(request, lease=lease)


class LeavesOthersRunning(MemoryJobStore):
    """A later job does not end those of the same target."""

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        before = dict(self._connection.tables.jobs)
        enqueued = await super().enqueue(request, lease=lease)
        self._connection.tables.jobs.update(before)
        return enqueued


class EndsTwice(MemoryJobStore):
    """A job that came to its end can still be cancelled."""

    async def cancel(self, channel_id: ChannelId, job_id: JobId, *, now: datetime, lease: Lease, **given: Any) -> Job:
        jobs = self._connection.tables.jobs
        try:
            return await super().cancel(channel_id, job_id, now=now, lease=lease, **given)
        except JobMoved:
            before = jobs[job_id]
            jobs[job_id] = attrs.evolve(before, state=JobState.PENDING)
            try:
                return await super().cancel(channel_id, job_id, now=now, lease=lease, **given)
            except ChopinError:
                jobs[job_id] = before
                raise


class ForgetsNoProgress(MemoryJobStore):
    """All that a worker ever said stays."""

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        before = self._connection.tables.jobs.get(token.job_id)
        job = await super().progress(token, step, now=now, lease=lease)
        if before is None:
            return job
        kept = self._connection.tables.jobs[job.id]
        self._connection.tables.jobs[job.id] = attrs.evolve(kept, progress=(*before.progress, kept.progress[-1]))
        return attrs.evolve(job, progress=self._connection.tables.jobs[job.id].progress)


class SettlesInTwoSteps(MemoryJobStore):
    """A job is completed before its artifact is there."""

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        detail = await super().settle(token, value, now=now, lease=lease)
        artifact = self._connection.tables.artifacts.pop(token.job_id)
        await self._connection.turn()
        self._connection.tables.artifacts[token.job_id] = artifact
        return detail


def _count(store: MemoryJobStore, channel_id: ChannelId) -> None:
    revisions = store._connection.tables.job_revisions
    if channel_id in revisions:
        revisions[channel_id] = JobChannelRevision(revisions[channel_id] + 1)


any_claim = memory.adapter(jobs=AnyClaim)
claimed_in_two_steps = memory.adapter(jobs=ClaimsInTwoSteps)
no_expiry = memory.adapter(jobs=NoExpiry)
never_due_again = memory.adapter(jobs=NeverDueAgain)
refusals_counted = memory.adapter(jobs=CountsRefusals)
repeats_counted = memory.adapter(jobs=CountsRepeats)
compared_by_nothing = memory.adapter(jobs=ComparesNothing)
others_left_running = memory.adapter(jobs=LeavesOthersRunning)
ended_twice = memory.adapter(jobs=EndsTwice)
no_progress_forgotten = memory.adapter(jobs=ForgetsNoProgress)
settled_in_two_steps = memory.adapter(jobs=SettlesInTwoSteps)
no_lock_sql = postgres.with_attribute(job_moves, "JOB_LOCK", None)
