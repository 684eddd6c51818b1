"""Valid jobs, to be changed in the one respect that a test is about; and all that a channel shows of its jobs."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

import attrs

from chopin_contract_tests.builders import T0
from chopin_core.channel import Channel
from chopin_core.counters import JobChannelRevision
from chopin_core.ids import JobId
from chopin_core.jobs.job import Job, JobOrigin, Request
from chopin_core.jobs.progress import ProgressState, Step
from chopin_core.ports.jobs import JobDetail, JobPage
from chopin_core.ports.leases import Lease
from chopin_core.ports.storage import Storage

MINUTE: Final = timedelta(minutes=1)
MOMENT: Final = timedelta(microseconds=1)

Seen: TypeAlias = tuple[JobPage | None, list[JobDetail | None]]


def request(channel: Channel, number: int = 1, **changes: Any) -> Request:
    """The ``number``-th request, about a target of its own."""
    plain = Request(
        id=JobId(f"job-{number}"),
        channel_id=channel.id,
        type="document-summary",
        version=1,
        target_key=f"target-{number}",
        idempotency_key=f"key-{number}",
        fingerprint=f"fingerprint {number}",
        origin=JobOrigin.SCHEDULER,
        input={"number": number},
        available_at=T0,
        now=T0,
    )
    return attrs.evolve(plain, **changes)


def step(stage: str = "reading", **changes: Any) -> Step:
    return attrs.evolve(Step(stage=stage, label="Reading", state=ProgressState.STARTED), **changes)


def later(job: Job, steps: int = 1, **changes: Any) -> Job:
    """The job some revisions later, changed in these respects and in no other."""
    return attrs.evolve(job, revision=JobChannelRevision(job.revision + steps), **changes)


async def enqueued(storage: Storage, made: Request, lease: Lease) -> Job:
    return (await storage.jobs.enqueue(made, lease=lease)).job


async def claimed(
    storage: Storage, channel: Channel, lease: Lease, *, owner: str = "worker", now: datetime = T0, ttl: timedelta = MINUTE
) -> Job:
    """The one job of the channel that is due."""
    [job] = await storage.jobs.claim(owner=owner, count=9, ttl=ttl, now=now, lease=lease, channel_id=channel.id)
    return job


async def seen(storage: Storage, channel: Channel) -> Seen:
    """Every job of the channel with its artifact, and the counter; to be compared with what it was."""
    page = await storage.jobs.list(channel.id, limit=100)
    jobs = () if page is None else page.jobs
    return page, [await storage.jobs.get(channel.id, job.id) for job in jobs]
