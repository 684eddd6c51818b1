"""Keeping the writer lease, and noticing at once that it is gone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from chopin_core.errors import LeaseHeld, StorageUnavailable
from chopin_core.memory.storage import MemoryStorage
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.writer import LeaseTimings, Loss, Writer

from room.house import put_in_place

QUICK = LeaseTimings(ttl=0.3, renewal=0.05, attempt=0.05, deadline=0.2)


def now() -> datetime:
    return datetime.now(UTC)


async def test_the_lease_is_kept_for_longer_than_it_was_granted() -> None:
    storage, lost = MemoryStorage(), list[Loss]()
    writer = await Writer.take(storage.leases, "a", now=now, lost=lost.append, timings=QUICK)
    await asyncio.sleep(0.6)
    holder = await storage.leases.holder(WRITER)
    assert holder is not None
    assert holder.fencing == writer.lease.fencing
    assert not lost
    await writer.release()


async def test_a_second_writer_is_refused_and_told_who_the_first_is() -> None:
    storage = MemoryStorage()
    writer = await Writer.take(storage.leases, "first", now=now, lost=list[Loss]().append)
    with pytest.raises(LeaseHeld) as refused:
        await Writer.take(storage.leases, "second", now=now, lost=list[Loss]().append)
    assert refused.value.holder == "first"
    await writer.release()
    second = await Writer.take(storage.leases, "second", now=now, lost=list[Loss]().append)
    assert second.lease.fencing > writer.lease.fencing
    await second.release()


async def test_losing_the_lease_to_another_is_noticed_at_the_next_renewal() -> None:
    storage, lost = MemoryStorage(), list[Loss]()
    writer = await Writer.take(storage.leases, "a", now=now, lost=lost.append, timings=QUICK)
    await storage.leases.release(writer.lease)
    await storage.leases.acquire(WRITER, "b", timedelta(seconds=5))
    await asyncio.sleep(0.15)
    assert [loss.last_error for loss in lost] == ["another process may hold it"]
    await writer.release()


async def test_a_silent_storage_costs_the_lease_only_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, lost = MemoryStorage(), list[Loss]()
    writer = await Writer.take(storage.leases, "a", now=now, lost=lost.append, timings=QUICK)

    async def silent(lease: Lease, ttl: timedelta) -> Lease | None:
        await asyncio.sleep(60)
        return None

    put_in_place(monkeypatch, storage.leases, "renew", silent)
    await asyncio.sleep(0.13)
    assert not lost
    await asyncio.sleep(0.2)
    assert len(lost) == 1
    await writer.release()


async def test_a_renewal_that_fails_is_tried_again_until_it_works(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, lost = MemoryStorage(), list[Loss]()
    timings = LeaseTimings(ttl=5, renewal=0.02, attempt=0.5, deadline=4)
    writer = await Writer.take(storage.leases, "a", now=now, lost=lost.append, timings=timings)
    renew, failures = storage.leases.renew, iter([1])

    async def flaky(lease: Lease, ttl: timedelta) -> Lease | None:
        for _ in failures:
            raise StorageUnavailable("down")
        return await renew(lease, ttl)

    put_in_place(monkeypatch, storage.leases, "renew", flaky)
    granted = writer.lease.expires_at
    await asyncio.sleep(1.3)
    assert writer.lease.expires_at > granted
    assert not lost
    await writer.release()
