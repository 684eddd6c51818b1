"""A commit whose connection is lost is kept or not, and the adapter finds out which."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeAlias

import attrs
import pytest

from chopin_core.channel import Channel
from chopin_core.errors import CommitRejected, OperationUnknown, StorageUnavailable
from chopin_core.ids import OperationId
from chopin_core.ports.collaboration import CommitResult, StoredChannel, TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg import outcomes
from chopin_storage_pg.locks import LEASE_LOCKS
from chopin_storage_pg.storage import PgStorage

from made import commit, creation, replacement
from watch import Session, Watch
from wire import Cut, Wire

CUT_ME = OperationId("cut me")

Write: TypeAlias = Callable[[PgStorage, Channel, Lease], Coroutine[Any, Any, CommitResult]]


async def commits(storage: PgStorage, channel: Channel, lease: Lease) -> CommitResult:
    return await storage.collaboration.commit(commit(channel, operation_id=CUT_ME), lease=lease)


async def retitles(storage: PgStorage, channel: Channel, lease: Lease) -> CommitResult:
    wanted = commit(channel, operation_id=CUT_ME, title=TitleChange(title="New"))
    return await storage.collaboration.commit(wanted, lease=lease)


async def replaces(storage: PgStorage, channel: Channel, lease: Lease) -> CommitResult:
    return await storage.collaboration.replace(replacement(channel, operation_id=CUT_ME), lease=lease)


@pytest.fixture(params=[commits, retitles, replaces])
def write(request: pytest.FixtureRequest) -> Write:
    """Each of the writes that an operation id stands for."""
    written: Write = request.param
    return written


@pytest.fixture
def marker(write: Write) -> bytes:
    """What only the message holds by which the write becomes durable."""
    return b"cut me" if write is commits else b"COMMIT\0"


async def loaded(storage: PgStorage, channel: Channel) -> StoredChannel:
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    return stored


# cases.md 25
async def test_a_write_whose_answer_is_lost_is_found(
    storage: PgStorage, far: PgStorage, wire: Wire, channel: Channel, lease: Lease, write: Write, marker: bytes
) -> None:
    wire.cut(marker, Cut.ANSWER)

    result = await write(far, channel, lease)

    assert wire.happened.is_set()
    assert (result.revision, result.sequence, result.repeated) == (1, 1, True)
    assert (await loaded(storage, channel)).latest == 1
    assert await write(far, channel, lease) == result


# cases.md 25
async def test_a_write_that_never_arrived_is_rejected_and_can_be_tried_again(
    storage: PgStorage, far: PgStorage, wire: Wire, channel: Channel, lease: Lease, write: Write, marker: bytes
) -> None:
    before = await loaded(storage, channel)
    wire.cut(marker, Cut.QUESTION)

    with pytest.raises(CommitRejected):
        await write(far, channel, lease)

    assert wire.happened.is_set()
    assert await loaded(storage, channel) == before
    assert (await write(far, channel, lease)).repeated is False


# cases.md 25
async def test_a_write_that_was_called_rejected_does_not_arrive_later(
    storage: PgStorage, far: PgStorage, wire: Wire, channel: Channel, lease: Lease, write: Write, marker: bytes
) -> None:
    before = await loaded(storage, channel)
    wire.cut(marker, Cut.LATE)

    with pytest.raises(CommitRejected):
        await write(far, channel, lease)
    await wire.deliver_late()

    assert await storage.collaboration.operation(channel.id, CUT_ME) is None
    assert await loaded(storage, channel) == before


async def test_a_write_whose_session_is_ended_while_it_waits_is_rejected(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch, write: Write
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    await watch.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    await obstacle.rollback()

    with pytest.raises(CommitRejected):
        await writing
    assert await storage.collaboration.operation(channel.id, CUT_ME) is None


# cases.md 25
async def test_a_write_cut_off_while_it_waits_for_its_turn_is_ended_on_the_server_before_it_is_called_rejected(
    storage: PgStorage,
    far: PgStorage,
    wire: Wire,
    channel: Channel,
    lease: Lease,
    obstacle: Session,
    watch: Watch,
    write: Write,
) -> None:
    before = await loaded(storage, channel)
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
    writing = asyncio.create_task(write(far, channel, lease))
    await watch.until_waiting()

    wire.hang_up()
    async with asyncio.timeout(5):
        with pytest.raises(CommitRejected):
            await writing

    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    assert await watch.value(waiting) == 0
    await obstacle.rollback()
    assert await storage.collaboration.operation(channel.id, CUT_ME) is None
    assert await loaded(storage, channel) == before
    assert (await write(far, channel, lease)).repeated is False


async def test_an_outcome_that_cannot_be_looked_up_is_unknown_until_it_can(
    storage: PgStorage,
    far: PgStorage,
    wire: Wire,
    channel: Channel,
    lease: Lease,
    write: Write,
    marker: bytes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outcomes, "_PATIENCE", 0.5)
    await far.leases.renew(lease, timedelta(minutes=1))
    wire.cut(marker, Cut.ANSWER)
    writing = asyncio.create_task(write(far, channel, lease))
    await wire.happened.wait()
    wire.open = False

    with pytest.raises(OperationUnknown) as caught:
        await writing
    assert (caught.value.channel_id, caught.value.operation_id) == (channel.id, CUT_ME)
    with pytest.raises(StorageUnavailable):
        await far.collaboration.operation(channel.id, CUT_ME)

    wire.open = True
    found = await far.collaboration.operation(channel.id, CUT_ME)
    assert found == attrs.evolve(await write(far, channel, lease), repeated=True)


async def test_a_server_that_is_back_in_a_moment_is_waited_for(
    far: PgStorage, wire: Wire, channel: Channel, lease: Lease, write: Write, marker: bytes
) -> None:
    wire.cut(marker, Cut.ANSWER)
    writing = asyncio.create_task(write(far, channel, lease))
    await wire.happened.wait()
    wire.open = False
    await asyncio.sleep(0.5)
    assert not writing.done()
    wire.open = True

    assert (await writing).revision == 1


async def test_a_write_that_could_not_even_be_sent_is_unavailable_and_not_in_doubt(
    far: PgStorage, wire: Wire, channel: Channel, lease: Lease, watch: Watch, write: Write
) -> None:
    await watch.end_all_sessions()
    wire.open = False

    async with asyncio.timeout(2):
        with pytest.raises(StorageUnavailable):
            await write(far, channel, lease)


async def test_each_commit_of_a_group_whose_answer_is_lost_is_found(
    storage: PgStorage, far: PgStorage, wire: Wire, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    channels = [await storage.channels.create(creation(f"channel {number}")) for number in range(9)]
    await obstacle.execute("SELECT FROM channels WHERE id = %s FOR UPDATE", (channels[0].id,))
    first = asyncio.create_task(far.collaboration.commit(commit(channels[0]), lease=lease))
    await watch.until_waiting()
    others = [asyncio.create_task(far.collaboration.commit(commit(channel), lease=lease)) for channel in channels[1:]]
    await asyncio.sleep(0)
    wire.cut(channels[1].id.encode(), Cut.ANSWER)
    await obstacle.rollback()

    results = await asyncio.gather(first, *others)
    assert wire.happened.is_set()
    assert [(result.revision, result.repeated) for result in results] == [(1, False)] + [(1, True)] * 8
