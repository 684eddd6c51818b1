"""
One background job, and how it moves from state to state.

::

    pending ──claim──> running ──settle──> completed
       ^                │  │ └───fail───> failed
       │<────requeue────┘  │
       │<─resume─ paused <─┴─pause        pending, paused, running ──cancel──> cancelled
                                                                   └supersede> superseded

Each move is a method that answers the job as it will be or refuses; the channel's job counter, which the caller raised, goes in
as ``revision``. No move leaves a completed, failed, cancelled or superseded job. Attempts, failures and progress only grow.
"""

from __future__ import annotations

import enum
from datetime import datetime, timedelta
from typing import Final

import attrs

from chopin_core.counters import ClaimGeneration, JobChannelRevision, TargetGeneration
from chopin_core.errors import ClaimLost, InvalidField, JobMoved, StaleJob
from chopin_core.ids import ChannelId, JobId
from chopin_core.instants import aware_field
from chopin_core.jobs.progress import KEPT, Progress, Step
from chopin_core.jsonvalue import Json
from chopin_core.text import key_field, named_field, storable, storable_field

_LARGEST_VERSION: Final = 2**31 - 1


class JobState(enum.Enum):
    PENDING = "pending"
    PAUSED = "paused"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


OPEN: Final = frozenset({JobState.PENDING, JobState.PAUSED, JobState.RUNNING})
"""What can still be worked on; the other states are final."""


class JobOrigin(enum.Enum):
    SCHEDULER = "scheduler"
    PLANNER = "planner"
    USER = "user"


@attrs.frozen(kw_only=True)
class Claim:
    """Who works on a running job, and until when exclusively. ``binding`` is the worker's own note."""

    owner: str
    expires_at: datetime
    binding: Json = None


def refuse_unfit_claim(*, owner: str, count: int, ttl: timedelta) -> None:
    """
    Raises:
        InvalidField: the owner is empty or cannot be stored, or count or ttl is not positive.
    """
    if not storable(owner, "owner"):
        raise InvalidField("owner", "is empty")
    if count < 1:
        raise InvalidField("count", "is not positive")
    if ttl <= timedelta(0):
        raise InvalidField("ttl", "is not positive")


@attrs.frozen(kw_only=True)
class ClaimToken:
    """What a worker shows to be let at a job it claimed."""

    channel_id: ChannelId
    job_id: JobId
    owner: str = attrs.field(validator=storable_field)
    generation: ClaimGeneration


@attrs.frozen(kw_only=True)
class Request:
    """
    A job to be enqueued.

    ``target_key`` names what it is about: a later job for the same target supersedes it. The same idempotency key with the
    same fingerprint is the same request again.

    Raises:
        InvalidField: a name is empty or cannot be stored, or the version is no positive 32-bit integer.
    """

    id: JobId = attrs.field(validator=[named_field, key_field])
    channel_id: ChannelId
    type: str = attrs.field(validator=named_field)
    version: int = attrs.field()
    target_key: str = attrs.field(validator=[named_field, key_field])
    idempotency_key: str = attrs.field(validator=[named_field, key_field])
    fingerprint: str = attrs.field(validator=named_field)
    origin: JobOrigin
    input: Json
    available_at: datetime = attrs.field(validator=aware_field)
    now: datetime = attrs.field(validator=aware_field)

    @version.validator
    def _counted(self, attribute: attrs.Attribute[int], value: int) -> None:
        if not 1 <= value <= _LARGEST_VERSION:
            raise InvalidField("version", f"must be 1 to {_LARGEST_VERSION}")

    def enqueued(self, revision: JobChannelRevision, generation: TargetGeneration) -> Job:
        return Job(
            id=self.id,
            channel_id=self.channel_id,
            type=self.type,
            version=self.version,
            target_key=self.target_key,
            target_generation=generation,
            idempotency_key=self.idempotency_key,
            fingerprint=self.fingerprint,
            origin=self.origin,
            input=self.input,
            state=JobState.PENDING,
            revision=revision,
            available_at=self.available_at,
            created_at=self.now,
            updated_at=self.now,
        )


@attrs.frozen(kw_only=True)
class Job:
    """A job as it is stored. It has a claim exactly while it is running."""

    id: JobId
    channel_id: ChannelId
    type: str
    version: int
    target_key: str
    target_generation: TargetGeneration
    idempotency_key: str
    fingerprint: str
    origin: JobOrigin
    input: Json
    state: JobState
    revision: JobChannelRevision
    attempts: int = 0
    failures: int = 0
    claim_generation: ClaimGeneration = attrs.field(default=ClaimGeneration(0))
    claim: Claim | None = None
    available_at: datetime
    reason: str | None = None
    progress: tuple[Progress, ...] = ()
    created_at: datetime
    updated_at: datetime

    @property
    def open(self) -> bool:
        return self.state in OPEN

    @property
    def token(self) -> ClaimToken:
        """What whoever claimed the running job shows."""
        assert self.claim is not None, "only a running job is claimed"
        return ClaimToken(channel_id=self.channel_id, job_id=self.id, owner=self.claim.owner, generation=self.claim_generation)

    def due(self) -> datetime:
        """When it may be claimed: once it is available, or once the claim on it has expired."""
        return self.available_at if self.claim is None else self.claim.expires_at

    def claimable(self, now: datetime) -> bool:
        return self.state in (JobState.PENDING, JobState.RUNNING) and self.due() <= now

    # Moves by whoever claims

    def claimed(self, *, owner: str, until: datetime, revision: JobChannelRevision, now: datetime) -> Job:
        """To be asked of a claimable job of its target's current generation."""
        return attrs.evolve(
            self,
            state=JobState.RUNNING,
            revision=revision,
            attempts=self.attempts + 1,
            claim_generation=ClaimGeneration(self.claim_generation + 1),
            claim=Claim(owner=owner, expires_at=until),
            reason=None,
            updated_at=now,
        )

    def refuse_unclaimed(self, token: ClaimToken, *, current: TargetGeneration, now: datetime) -> Claim:
        """
        The claim, if the token is that of it, it has not expired, and no later job has taken the target over.

        Raises:
            ClaimLost: else.
        """
        held = (
            self.claim is not None
            and (self.claim.owner, self.claim_generation) == (token.owner, token.generation)
            and self.claim.expires_at > now
            and self.target_generation == current
        )
        if self.claim is None or not held:
            raise ClaimLost(self.id, token.generation)
        return self.claim

    def renewed(
        self,
        claim: Claim,
        *,
        until: datetime,
        binding: Json,
        expected: JobChannelRevision,
        revision: JobChannelRevision,
        now: datetime,
    ) -> Job:
        """
        Raises:
            StaleJob: the job is not at ``expected``, was changed after ``now``, or its claim does not end later than before.
        """
        self._refuse_stale(expected)
        if now < self.updated_at or until <= claim.expires_at:
            raise StaleJob(self.id, expected, self.revision)
        longer = attrs.evolve(claim, expires_at=until, binding=binding)
        return attrs.evolve(self, claim=longer, revision=revision, updated_at=now)

    def progressed(self, step: Step, *, revision: JobChannelRevision, now: datetime) -> Job:
        """
        With one more entry, and without those before the last 32.

        Raises:
            StaleJob: the job was changed after ``now``.
        """
        if now < self.updated_at:
            raise StaleJob(self.id, self.revision, self.revision)
        entry = Progress(revision=revision, attempt=self.attempts, step=step, created_at=now)
        return attrs.evolve(self, progress=(*self.progress, entry)[-KEPT:], revision=revision, updated_at=now)

    def requeued(
        self, *, available_at: datetime, reason: str | None, count_failure: bool, revision: JobChannelRevision, now: datetime
    ) -> Job:
        failures = self.failures + count_failure
        return self._unclaimed(JobState.PENDING, reason, revision, now, available_at=available_at, failures=failures)

    def failed(self, *, reason: str, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.FAILED, reason, revision, now, failures=self.failures + 1)

    def settled(self, *, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.COMPLETED, None, revision, now)

    # Moves by whoever controls

    def refuse_uncontrolled(
        self, allowed: frozenset[JobState], *, expected: JobChannelRevision | None, current: TargetGeneration
    ) -> None:
        """
        Raises, the first that applies:
            JobMoved: it is in another state, or a later job has taken its target over.
            StaleJob: it is not at ``expected``, if that is given.
        """
        if self.state not in allowed or self.target_generation != current:
            raise JobMoved(self.id, self.state.value)
        if expected is not None:
            self._refuse_stale(expected)

    def paused(self, *, reason: str, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.PAUSED, reason, revision, now)

    def resumed(self, *, available_at: datetime, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.PENDING, None, revision, now, available_at=available_at)

    def cancelled(self, *, reason: str | None, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.CANCELLED, reason, revision, now)

    def superseded(self, *, reason: str | None = None, revision: JobChannelRevision, now: datetime) -> Job:
        return self._unclaimed(JobState.SUPERSEDED, reason, revision, now)

    def _refuse_stale(self, expected: JobChannelRevision) -> None:
        if self.revision != expected:
            raise StaleJob(self.id, expected, self.revision)

    def _unclaimed(
        self, state: JobState, reason: str | None, revision: JobChannelRevision, now: datetime, **changes: object
    ) -> Job:
        return attrs.evolve(self, state=state, claim=None, reason=reason, revision=revision, updated_at=now, **changes)  # type: ignore[arg-type]  # because evolve's keywords are those of Job, and only this class passes them
