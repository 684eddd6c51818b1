"""A holder that lost its lease while paused or cut off: whatever it still believes, the lease's row refuses its writes."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from chopin_core.counters import StorageRevision
from chopin_core.errors import LeaseLost
from chopin_core.ports.leases import Lease
from chopin_storage_pg.engine import session_name
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase

from evidence import copied, trace, until_quiet
from made import commit
from storage_calls import GUARDED, LONG, SHORT, Call, Scene, staged
from store_calls import GUARDED_STORE_CALLS
from watch import Watch
from work_calls import WORK_CALLS

BRIEF = timedelta(seconds=0.3)
HOUR = timedelta(hours=1)

GUARDED_ELSEWHERE = (*GUARDED_STORE_CALLS, *WORK_CALLS)

each_write = pytest.mark.parametrize("write", GUARDED, ids=str)


@pytest.fixture
async def scene(storage: PgStorage, lease: Lease) -> Scene:
    """Its own lease is the one that is lost: the writes are made under it."""
    scene = await staged(storage, "x0000x", lease)
    return attrs.evolve(scene, writer=scene.own)


async def until_expired(watch: Watch, lease: Lease) -> None:
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases WHERE name = %s", lease.name)


async def taken_over(watch: Watch, successor: PgStorage, lease: Lease, owner: str = "successor") -> Lease:
    """The lease, once it ran out and another owner took it."""
    await until_expired(watch, lease)
    taken = await successor.leases.acquire(lease.name, owner, LONG)
    assert taken is not None
    return taken


async def shortened(storage: PgStorage, lease: Lease) -> None:
    """The lease with little time left; its holder still has in hand what it was granted before."""
    assert await storage.leases.renew(lease, BRIEF) is not None


# cases.md 84
@each_write
async def test_a_holder_whose_lease_connection_was_killed_writes_nothing_after_a_takeover(
    storage: PgStorage, database: ScratchDatabase, scene: Scene, watch: Watch, write: Call
) -> None:
    await shortened(storage, scene.own)
    name = session_name(await storage.leases._session.connection())
    assert await watch.value("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", name)
    believed = attrs.evolve(scene.own, expires_at=datetime.now(UTC) + HOUR)

    async with await database.connect() as successor:
        await taken_over(watch, successor, scene.own)
        before = await trace(watch, scene)

        with pytest.raises(LeaseLost):
            await write.run(storage, attrs.evolve(scene, writer=believed))
        assert await storage.leases.renew(believed, LONG) is None
        assert await trace(watch, scene) == before


# cases.md 84
async def test_a_lease_outlives_the_connections_of_its_holder(
    storage: PgStorage, database: ScratchDatabase, scene: Scene, watch: Watch
) -> None:
    await watch.end_all_sessions()

    async with await database.connect() as successor:
        assert await successor.leases.acquire(scene.own.name, "successor", LONG) is None
    assert await storage.leases.renew(scene.own, LONG) is not None


# cases.md 84
@each_write
async def test_no_part_of_the_guard_lives_in_a_session(
    storage: PgStorage, database: ScratchDatabase, scene: Scene, watch: Watch, write: Call
) -> None:
    """Between a pooler of transactions and the server, each transaction may run on another session. Here all of them do."""
    other = await copied(watch, scene, "x0001x")
    await watch.end_all_sessions()
    await shortened(storage, scene.own)
    await watch.end_all_sessions()
    await write.run(storage, scene)
    await until_quiet(watch)  # the sessions stand idle, and hold no advisory lock

    async with await database.connect() as successor:
        await taken_over(watch, successor, scene.own)
        before = await trace(watch, other)
        await watch.end_all_sessions()
        with pytest.raises(LeaseLost):
            await write.run(storage, attrs.evolve(other, writer=scene.own))
    assert await trace(watch, other) == before


# cases.md 85
@pytest.mark.parametrize("owner", ["successor", "tests"], ids=["by another", "under the same name"])
@each_write
async def test_a_holder_that_was_paused_past_its_lease_writes_nothing_after_a_takeover(
    storage: PgStorage, database: ScratchDatabase, scene: Scene, watch: Watch, write: Call, owner: str
) -> None:
    untouched = await copied(watch, scene, "x0001x")
    await shortened(storage, scene.own)

    async with await database.connect() as successor:
        taken = await taken_over(watch, successor, scene.own, owner)
        edited = await successor.collaboration.commit(commit(scene.channel, expected=StorageRevision(1)), lease=taken)
        before = [await trace(watch, one) for one in (scene, untouched)]

        for one in (scene, attrs.evolve(untouched, writer=scene.own)):  # the second is at the revision that it expects
            with pytest.raises(LeaseLost):
                await write.run(storage, one)
        assert not await storage.leases.release(scene.own)
        assert [await trace(watch, one) for one in (scene, untouched)] == before
        again = await successor.collaboration.commit(commit(scene.channel, expected=edited.revision), lease=taken)
    assert again.revision == edited.revision + 1


# cases.md 85
async def test_a_holder_that_was_paused_past_its_lease_moves_no_job_request_description_or_session_after_a_takeover(
    storage: PgStorage, database: ScratchDatabase, lease: Lease, watch: Watch
) -> None:
    scenes = [await staged(storage, f"x{number:04}x", lease) for number in range(len(GUARDED_ELSEWHERE))]
    for call, scene in zip(GUARDED_ELSEWHERE, scenes, strict=True):
        if call.before is not None:
            await call.before(storage, scene)
    lost = scenes[0].own
    await shortened(storage, lost)

    async with await database.connect() as successor:
        await taken_over(watch, successor, lost)
        before = [await trace(watch, scene) for scene in scenes]
        for call, scene in zip(GUARDED_ELSEWHERE, scenes, strict=True):
            with pytest.raises(LeaseLost):
                await call.run(storage, attrs.evolve(scene, writer=lost, own=lost))
        assert [await trace(watch, scene) for scene in scenes] == before


# cases.md 85
async def test_a_lease_that_was_renewed_a_hundred_times_and_taken_again_is_free_after_one_release(
    storage: PgStorage, database: ScratchDatabase, scene: Scene
) -> None:
    for _ in range(100):
        assert await storage.leases.renew(scene.own, LONG) is not None
    assert await storage.leases.acquire(scene.own.name, scene.own.owner, LONG) is not None

    assert await storage.leases.release(scene.own)

    assert await storage.leases.holder(scene.own.name) is None
    assert await storage.leases.renew(scene.own, LONG) is None
    async with await database.connect() as successor:
        taken = await successor.leases.acquire(scene.own.name, "successor", SHORT)
    assert taken is not None
    assert taken.fencing == scene.own.fencing + 1


# cases.md 85
async def test_a_fencing_token_is_an_integer_that_only_rises(
    storage: PgStorage, database: ScratchDatabase, watch: Watch
) -> None:
    tokens = []
    async with await database.connect() as elsewhere:
        for turn in range(12):
            holder = (storage, elsewhere)[turn % 2]
            taken = await holder.leases.acquire("turns", f"owner {turn % 3}", SHORT)
            assert taken is not None
            tokens.append(taken.fencing)
            match turn % 3:
                case 0:
                    assert await holder.leases.release(taken)
                case 1:
                    await watch.run("UPDATE storage_leases SET expires_at = clock_timestamp()")
                case _:
                    assert await holder.leases.renew(taken, BRIEF) is not None
                    await watch.until(
                        "SELECT bool_or(expires_at <= clock_timestamp()) FROM storage_leases WHERE name = 'turns'"
                    )

    assert all(type(token) is int for token in tokens)
    assert tokens == list(range(1, 13))


# cases.md 85
@pytest.mark.parametrize("jump", [-HOUR, HOUR], ids=["back", "forward"])
@each_write
async def test_a_jump_of_the_holders_clock_changes_nothing(
    storage: PgStorage,
    database: ScratchDatabase,
    scene: Scene,
    watch: Watch,
    write: Call,
    jump: timedelta,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = await copied(watch, scene, "x0001x")
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump.total_seconds())
    believed = attrs.evolve(scene.own, expires_at=scene.own.expires_at + jump)

    renewed = await storage.leases.renew(believed, SHORT)
    assert renewed is not None
    assert await watch.value("SELECT abs(extract(epoch FROM %s - clock_timestamp())) < 60", renewed.expires_at)
    await write.run(storage, attrs.evolve(scene, writer=believed))

    await shortened(storage, believed)
    await until_expired(watch, believed)
    with pytest.raises(LeaseLost):  # although nobody took it
        await write.run(storage, attrs.evolve(other, writer=believed))
    async with await database.connect() as successor, asyncio.timeout(5):
        await taken_over(watch, successor, believed)
