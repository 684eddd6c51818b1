"""A renewal that gets no reply is given up, leaves nothing behind, and the next one works."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from chopin_core.errors import OutcomeUnknown, StorageUnavailable
from chopin_core.ports.leases import Lease
from chopin_storage_pg import leases
from chopin_storage_pg.storage import PgStorage

from watch import Session, Watch
from wire import Cut, Wire

MINUTE = timedelta(minutes=1)


async def test_a_renewal_without_a_reply_is_given_up_and_the_next_one_works(
    far: PgStorage, wire: Wire, lease: Lease, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await far.leases.renew(lease, MINUTE) is not None
    monkeypatch.setattr(leases, "ABANDONED_AFTER", 0.3)
    monkeypatch.setattr(leases, "_ENDS_WITHIN", 0.3)
    wire.cut(b"clock_timestamp", Cut.SILENCE)

    with pytest.raises(OutcomeUnknown) as caught:
        await far.leases.renew(lease, MINUTE)

    assert wire.happened.is_set()
    assert caught.value.cause == "RenewalAbandoned"
    # Its session had locked the row; it was ended over the pool, and long before PostgreSQL would have.
    assert await watch.value("SELECT count(*) FROM pg_locks WHERE relation = 'storage_leases'::regclass") == 0
    assert await far.leases.renew(lease, MINUTE) is not None


async def test_a_renewal_whose_session_the_server_ended_is_unavailable_and_the_next_one_works(
    storage: PgStorage, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM storage_leases FOR UPDATE")
    renewing = asyncio.create_task(storage.leases.renew(lease, MINUTE))
    await watch.until_waiting()
    await watch.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    with pytest.raises(StorageUnavailable):
        await renewing

    await obstacle.rollback()
    assert await storage.leases.renew(lease, MINUTE) is not None


async def test_a_renewal_given_up_by_its_caller_leaves_no_lock(
    storage: PgStorage, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM storage_leases FOR UPDATE")
    renewing = asyncio.create_task(storage.leases.renew(lease, MINUTE))
    await watch.until_waiting()

    renewing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await renewing
    await obstacle.rollback()

    await watch.until("SELECT count(*) = 0 FROM pg_locks WHERE relation = 'storage_leases'::regclass")
    assert await storage.leases.renew(lease, MINUTE) is not None


async def test_the_server_ends_a_renewal_that_it_cannot_do_or_that_nobody_goes_on_with(
    storage: PgStorage, lease: Lease
) -> None:
    await storage.leases.renew(lease, MINUTE)
    connection = await storage.leases._session.connection()

    limits = []
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        cursor = await connection.execute(f"SHOW {name}".encode())
        limits.append(await cursor.fetchone())
    assert limits == [("5s",), ("2s",)]


async def test_renewals_at_once_take_turns(storage: PgStorage, lease: Lease) -> None:
    renewed = await asyncio.gather(*(storage.leases.renew(lease, MINUTE) for _ in range(20)))

    assert {(one.name, one.fencing) for one in renewed if one} == {(lease.name, lease.fencing)}
