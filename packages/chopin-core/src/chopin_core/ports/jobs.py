"""Storage of background jobs: a durable queue for each channel, whose workers are fenced by claims."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

import attrs

from chopin_core.counters import JobChannelRevision
from chopin_core.ids import ChannelId, JobId
from chopin_core.instants import aware_field
from chopin_core.jobs.job import ClaimToken, Job, Request
from chopin_core.jobs.progress import Step
from chopin_core.jsonvalue import Json
from chopin_core.ports.leases import Lease
from chopin_core.text import key_field

CLAIM_LIMIT = 100
PAGE_LIMIT = 100


@attrs.frozen(kw_only=True)
class Enqueued:
    """The job as it is now, and whether an earlier call had made it."""

    job: Job
    repeated: bool


@attrs.frozen(kw_only=True)
class Artifact:
    """What a completed job brought: immutable, and kept in the step that completed it."""

    job_id: JobId
    revision: JobChannelRevision
    value: Json
    created_at: datetime


@attrs.frozen(kw_only=True)
class JobDetail:
    """A job with its artifact, and the channel's job counter at the time of reading."""

    revision: JobChannelRevision
    job: Job
    current: bool
    """Whether no later job has taken its target over."""
    artifact: Artifact | None


@attrs.frozen(kw_only=True)
class JobCursor:
    """The last job of a page: when it was made, and its id."""

    at: datetime = attrs.field(validator=aware_field)
    id: JobId = attrs.field(validator=key_field)


@attrs.frozen(kw_only=True)
class JobPage:
    """Jobs, the latest made first, then ids in code-point order; and the cursor of the last one if there are more."""

    revision: JobChannelRevision
    jobs: tuple[Job, ...]
    next: JobCursor | None


class JobStore(Protocol):
    """
    Jobs by channel. Every write is guarded by a lease, as in ``CollaborationStore``; checks come in the order of listing.

    A successful write raises the channel's job counter by one and stamps it on every job it changed; a refused one raises
    nothing. Neither touches the channel, its activity time or its history. ``now`` is the caller's clock.

    Methods that take a token raise ``JobMissing`` when the channel has no such job and ``ClaimLost`` when the claim is not
    held at ``now``. Methods that take an id and ``expected`` raise ``JobMissing``, ``JobMoved`` when the state does not allow
    it or a later job has the target, and ``StaleJob`` when the job is not at ``expected``. All raise ``LeaseLost`` first;
    only what could never be kept, a reason of no storable text or a value that is no JSON, is refused with ``InvalidField``
    before storage is asked.

    Made again, only ``enqueue`` and ``claim`` can succeed twice, and ``progress`` can, whose entry then stands twice; all
    others are refused by what they did, and :meth:`get` shows it. What a lost ``claim`` took comes due again when it ends.
    """

    async def enqueue(self, request: Request, *, lease: Lease) -> Enqueued:
        """
        Keep a new job, and supersede every pending, paused or running one of the same target.

        The target's generation rises by one. A repeat of the idempotency key changes nothing and answers the job as it is
        now. An archived channel is accepted.

        Raises, after the lease:
            ChannelMissing: there is no such channel.
            IdempotencyConflict: the key belongs to a request with another fingerprint.
            JobExists: the id is in use.
        """
        ...

    async def claim(
        self, *, owner: str, count: int, ttl: timedelta, now: datetime, lease: Lease, channel_id: ChannelId | None = None
    ) -> tuple[Job, ...]:
        """
        Let a worker have up to ``count`` (at most 100) jobs that are due, of one channel or of all.

        Due is what is pending and available, and what is running under an expired claim, of a target's current generation.
        They come in the order in which they fell due, then by creation and id. No job is ever claimed by two workers. Each
        has one more attempt and claim generation; the counter of a channel rises once, and all its jobs share the value.

        Raises, before storage is asked:
            InvalidField: the owner is empty or cannot be stored, or count or ttl is not positive.
        """
        ...

    async def renew(
        self, token: ClaimToken, *, ttl: timedelta, binding: Json, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        """
        Hold the claim until ``now + ttl``, and replace the worker's binding.

        Raises, after those above:
            StaleJob: the job is not at ``expected``, was changed after ``now``, or its claim would not end later than it does.
        """
        ...

    async def progress(self, token: ClaimToken, step: Step, *, now: datetime, lease: Lease) -> Job:
        """
        Keep what the worker says; the last 32 entries stay. The claim does not get longer.

        Raises, after those above:
            StaleJob: the job was changed after ``now``.
        """
        ...

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
        """Give the job back, to be tried again from ``available_at`` on."""
        ...

    async def settle(self, token: ClaimToken, value: Json, *, now: datetime, lease: Lease) -> JobDetail:
        """Complete the job together with its artifact."""
        ...

    async def fail(self, token: ClaimToken, *, reason: str, now: datetime, lease: Lease) -> Job:
        """End the job without an artifact, with one more failure."""
        ...

    async def pause(
        self, channel_id: ChannelId, job_id: JobId, *, reason: str, expected: JobChannelRevision, now: datetime, lease: Lease
    ) -> Job:
        """Hold a pending or running job back; a claim on it ends."""
        ...

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
        """Let a paused job be claimed again."""
        ...

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
        """
        End a pending, paused or running job.

        Raises, after the lease and before the others:
            ChannelMissing: there is no such channel.
            ChannelArchived: it is archived, and that is not allowed.
        """
        ...

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
        """End a pending, paused or running job for the sake of another."""
        ...

    async def list(self, channel_id: ChannelId, *, limit: int = 50, after: JobCursor | None = None) -> JobPage | None:
        """One page (``limit`` is clamped to 1…100), or None if there is no such channel."""
        ...

    async def get(self, channel_id: ChannelId, job_id: JobId) -> JobDetail | None:
        """The job, or None if the channel has none of that id."""
        ...
