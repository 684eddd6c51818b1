"""Jobs as rows, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from chopin_core.counters import ClaimGeneration, JobChannelRevision, TargetGeneration
from chopin_core.errors import CorruptRecord, Invalid
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import Claim, Job, JobOrigin, JobState
from chopin_core.jobs.progress import Progress, ProgressState, Step
from chopin_core.jsonvalue import Json, decode, encode
from chopin_core.ports.jobs import Artifact
from chopin_storage_pg import rows


def born(job: Job) -> dict[str, Any]:
    """What never changes of a job."""
    return {
        "id": job.id,
        "channel_id": job.channel_id,
        "type": job.type,
        "version": job.version,
        "target_key": job.target_key,
        "target_generation": job.target_generation,
        "idempotency_key": job.idempotency_key,
        "fingerprint": job.fingerprint,
        "origin": job.origin.value,
        "input": encode(job.input),
        "created_at": job.created_at,
    }


def moved(job: Job) -> dict[str, Any]:
    """What a move may change."""
    return {
        "state": job.state.value,
        "revision": job.revision,
        "attempts": job.attempts,
        "failures": job.failures,
        "claim_generation": job.claim_generation,
        "claim_owner": None if job.claim is None else job.claim.owner,
        "claim_expires_at": None if job.claim is None else job.claim.expires_at,
        "claim_binding": None if job.claim is None or job.claim.binding is None else encode(job.claim.binding),
        "available_at": job.available_at,
        "reason": job.reason,
        "progress": encode([_entry(entry) for entry in job.progress]),
        "updated_at": job.updated_at,
    }


def _entry(entry: Progress) -> Mapping[str, Json]:
    return {
        "revision": entry.revision,
        "attempt": entry.attempt,
        "stage": entry.step.stage,
        "label": entry.step.label,
        "state": entry.step.state.value,
        "reason": entry.step.reason,
        "at": entry.created_at.isoformat(),
    }


def job(row: Row[Any]) -> Job:
    """
    Raises:
        CorruptRecord: an unknown state, an impossible count, or a claim where none can be.
    """
    where = f"job {row.id}"
    try:
        state, origin = JobState(row.state), JobOrigin(row.origin)
    except ValueError:
        raise CorruptRecord(where, "has an unknown state or origin") from None
    claim = None
    if row.claim_owner is not None and row.claim_expires_at is not None:
        binding = None if row.claim_binding is None else decode(row.claim_binding, where)
        claim = Claim(owner=row.claim_owner, expires_at=rows.utc(row.claim_expires_at), binding=binding)
    if (claim is not None) is not (state is JobState.RUNNING) or (claim is None and row.claim_binding is not None):
        raise CorruptRecord(where, f"is {state.value} with{'' if claim else 'out'} a claim")
    return Job(
        id=JobId(row.id),
        channel_id=ChannelId(row.channel_id),
        type=row.type,
        version=rows.count(row.version, where, "version", least=1),
        target_key=row.target_key,
        target_generation=TargetGeneration(rows.count(row.target_generation, where, "target_generation", least=1)),
        idempotency_key=row.idempotency_key,
        fingerprint=row.fingerprint,
        origin=origin,
        input=decode(row.input, where),
        state=state,
        revision=JobChannelRevision(rows.count(row.revision, where, "revision", least=1)),
        attempts=rows.count(row.attempts, where, "attempts"),
        failures=rows.count(row.failures, where, "failures"),
        claim_generation=ClaimGeneration(rows.count(row.claim_generation, where, "claim_generation")),
        claim=claim,
        available_at=rows.utc(row.available_at),
        reason=row.reason,
        progress=_progress(row.progress, where),
        created_at=rows.utc(row.created_at),
        updated_at=rows.utc(row.updated_at),
    )


def _progress(text: str, where: str) -> tuple[Progress, ...]:
    value = decode(text, where)
    try:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise TypeError
        return tuple(_progressed(entry, where) for entry in value)
    except (TypeError, KeyError, ValueError, Invalid):
        raise CorruptRecord(where, "has an entry of progress that is none") from None


def _progressed(entry: Json, where: str) -> Progress:
    if not isinstance(entry, Mapping):
        raise TypeError
    revision, attempt, reason = entry["revision"], entry["attempt"], entry["reason"]
    if not isinstance(revision, int) or not isinstance(attempt, int) or not isinstance(reason, str | None):
        raise TypeError
    step = Step(stage=str(entry["stage"]), label=str(entry["label"]), state=ProgressState(entry["state"]), reason=reason)
    return Progress(
        revision=JobChannelRevision(rows.count(revision, where, "revision of progress", least=1)),
        attempt=rows.count(attempt, where, "attempt of progress", least=1),
        step=step,
        created_at=datetime.fromisoformat(str(entry["at"])),
    )


def artifact(row: Row[Any]) -> Artifact:
    where = f"artifact of job {row.job_id}"
    return Artifact(
        job_id=JobId(row.job_id),
        revision=JobChannelRevision(rows.count(row.revision, where, "revision", least=1)),
        value=decode(row.value, where),
        created_at=rows.utc(row.created_at),
    )
