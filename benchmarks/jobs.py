"""A thousand jobs that wait, and eight who claim them one by one until none is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from time import perf_counter
from typing import Final

from benchmarks.effort import Effort
from benchmarks.keystrokes import new_channel, writing
from benchmarks.row import Row
from chopin_core.channel import Channel
from chopin_core.ids import JobId
from chopin_core.jobs.job import JobOrigin, Request
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchServer

JOBS: Final = 1_000
CLAIMERS: Final = 8
_CHANNELS: Final = 20


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    async with server.copied() as database, writing(database) as (storage, lease):
        channels = [await new_channel(storage, f"jobs {number}") for number in range(_CHANNELS)]
        rates: list[float] = []
        times: list[float] = []
        for run in range(min(effort.runs, 3)):
            wanted = await _enqueued(storage, lease, channels, run)
            started = perf_counter()
            claims = await asyncio.gather(*(_claims(storage, lease, f"claimer {n}", times) for n in range(CLAIMERS)))
            rates.append(JOBS / (perf_counter() - started))
            claimed = [job for part in claims for job in part]
            assert len(claimed) == len(set(claimed)) and set(claimed) == wanted, "each job is claimed once"
    yield Row(name=f"{JOBS:,} jobs claimed one by one by {CLAIMERS} claimers", value=median(rates), unit="claims/s")
    yield Row(name="a claim among them, p50", value=median(times) * 1e3, unit="ms")
    yield Row(name="a claim among them, p99", value=quantiles(times, n=100)[98] * 1e3, unit="ms")


async def _enqueued(storage: PgStorage, lease: Lease, channels: Sequence[Channel], run: int) -> set[JobId]:
    ids, now = set(), datetime.now(UTC)
    for number in range(JOBS):
        id = f"job {run} {number}"
        request = Request(
            id=JobId(id),
            channel_id=channels[number % len(channels)].id,
            type="document-summary",
            version=1,
            target_key=id,
            idempotency_key=id,
            fingerprint=id,
            origin=JobOrigin.SCHEDULER,
            input={"number": number},
            available_at=now,
            now=now,
        )
        ids.add((await storage.jobs.enqueue(request, lease=lease)).job.id)
    return ids


async def _claims(storage: PgStorage, lease: Lease, owner: str, times: list[float]) -> list[JobId]:
    """Until there is nothing left; what this one got."""
    got: list[JobId] = []
    while True:
        started = perf_counter()
        found = await storage.jobs.claim(owner=owner, count=1, ttl=timedelta(hours=1), now=datetime.now(UTC), lease=lease)
        times.append(perf_counter() - started)
        if not found:
            return got
        got += [job.id for job in found]
