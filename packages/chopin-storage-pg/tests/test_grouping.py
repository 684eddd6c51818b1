"""Commits that wait for their turn are kept together, and each is answered as if it had been alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import attrs
import psycopg
import pytest

from chopin_core.channel import Channel
from chopin_core.counters import FencingToken, StorageRevision
from chopin_core.errors import ChannelArchived, ChannelMissing, EventRepeated, LeaseLost, StaleWrite, StorageUnavailable
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_storage_pg import grouping
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from made import NOW, commit, creation, event
from watch import Session, Watch

TRANSACTIONS = "SELECT count(DISTINCT xmin::text) FROM channel_operations WHERE channel_id <> 'one'"


@pytest.fixture
async def database(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """One to be spoiled."""
    async with server.copied() as database:
        yield database


@pytest.fixture
async def channels(storage: PgStorage) -> Sequence[Channel]:
    return [await storage.channels.create(creation(f"channel {number}")) for number in range(8)]


async def together(
    storage: PgStorage, channel: Channel, obstacle: Session, watch: Watch, wanted: Sequence[tuple[Commit, Lease]]
) -> Sequence[CommitResult | BaseException]:
    """What becomes of commits that gathered while another one, of ``channel``, was held up."""
    await obstacle.execute("SELECT FROM channels WHERE id = %s FOR UPDATE", (channel.id,))
    first = asyncio.create_task(storage.collaboration.commit(commit(channel), lease=wanted[0][1]))
    await watch.until_waiting()
    writing = [asyncio.create_task(storage.collaboration.commit(one, lease=lease)) for one, lease in wanted]
    await asyncio.sleep(0)
    await obstacle.rollback()
    await first
    return await asyncio.gather(*writing, return_exceptions=True)


async def test_they_share_one_transaction(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    results = await together(storage, channel, obstacle, watch, [(commit(one), lease) for one in reversed(channels)])

    assert [result.revision for result in results if isinstance(result, CommitResult)] == [1] * len(channels)
    assert await watch.value(TRANSACTIONS) == 1
    for one in channels:
        stored = await storage.collaboration.load(one.id)
        assert stored is not None
        assert len(stored.updates) == stored.latest == 1


async def test_each_is_refused_for_its_own_reason(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    repeat = commit(channels[4])
    await storage.collaboration.commit(repeat, lease=lease)
    await storage.channels.archive(channels[1].id, now=NOW)
    wanted = [
        commit(channels[0]),
        commit(channels[1]),
        commit(channels[2], expected=StorageRevision(7)),
        commit(attrs.evolve(channels[3], id=ChannelId("nowhere"))),
        repeat,
        commit(channels[5], events=(event("e"), event("e"))),
        commit(channels[6], events=(event("e"),)),
    ]

    results = await together(storage, channel, obstacle, watch, [(one, lease) for one in wanted])

    expected = [CommitResult, ChannelArchived, StaleWrite, ChannelMissing, CommitResult, EventRepeated, CommitResult]
    assert [type(result) for result in results] == expected
    assert [result.repeated for result in results if isinstance(result, CommitResult)] == [False, True, False]
    assert isinstance(results[2], StaleWrite)
    assert (results[2].expected, results[2].actual) == (7, 0)


async def test_one_that_the_server_cannot_keep_does_not_spoil_the_others(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await watch.run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53100'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON channel_operations FOR EACH ROW"
        " WHEN (NEW.channel_id = 'channel 3') EXECUTE FUNCTION refuse()",
    )

    results = await together(storage, channel, obstacle, watch, [(commit(one), lease) for one in channels])

    assert isinstance(results[3], StorageUnavailable)
    assert results[3].cause == "53100"
    assert [type(result) for result in results].count(CommitResult) == len(channels) - 1


async def test_those_under_another_lease_go_by_themselves(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    other = await storage.leases.acquire("other", "tests", timedelta(minutes=1))
    assert other is not None
    renewed = await storage.leases.renew(lease, timedelta(minutes=20))
    assert renewed is not None
    lost = attrs.evolve(lease, fencing=FencingToken(lease.fencing + 1))
    leases = [lease, other, lost, renewed]

    results = await together(
        storage, channel, obstacle, watch, [(commit(one), under) for one, under in zip(channels, leases * 2, strict=True)]
    )

    assert [type(result) for result in results] == [CommitResult, CommitResult, LeaseLost, CommitResult] * 2
    assert await watch.value(TRANSACTIONS) == 2


async def test_two_of_one_channel_follow_each_other(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    one = channels[0]
    wanted = [commit(one), commit(one, expected=StorageRevision(1)), commit(one), commit(channels[1])]

    results = await together(storage, channel, obstacle, watch, [(each, lease) for each in wanted])

    assert [result.revision for result in results if isinstance(result, CommitResult)] == [1, 2, 1]
    assert isinstance(results[2], StaleWrite)


@pytest.mark.parametrize(("limit", "value", "transactions"), [("LARGEST_GROUP", 3, 3), ("LARGEST_BYTES", 20, 3)])
async def test_a_group_is_bounded(
    storage: PgStorage,
    channel: Channel,
    channels: Sequence[Channel],
    lease: Lease,
    obstacle: Session,
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
    transactions: int,
) -> None:
    monkeypatch.setattr(grouping, limit, value)

    await together(storage, channel, obstacle, watch, [(commit(one, update=b"123456"), lease) for one in channels])

    assert await watch.value(TRANSACTIONS) == transactions


async def test_they_lock_their_channels_in_the_order_of_the_ids(
    storage: PgStorage, channel: Channel, channels: Sequence[Channel], lease: Lease, obstacle: Session, watch: Watch
) -> None:
    async with await psycopg.AsyncConnection.connect(watch.session.info.dsn, password=watch.session.info.password) as other:
        await other.execute("SELECT FROM channels WHERE id = 'channel 4' FOR UPDATE")
        gathered = asyncio.create_task(
            together(storage, channel, obstacle, watch, [(commit(one), lease) for one in reversed(channels)])
        )
        await watch.until("SELECT revision = 1 FROM channels WHERE id = 'one'")
        await watch.until_waiting()

        await watch.run("SELECT FROM channels WHERE id > 'channel 4' AND id < 'one' FOR UPDATE NOWAIT")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            await watch.run("SELECT FROM channels WHERE id = 'channel 0' FOR UPDATE NOWAIT")

        await other.rollback()
        await gathered


async def test_a_commit_in_flight_does_not_hold_up_the_making_of_a_child(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await watch.run(
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$",
        "CREATE TRIGGER wait BEFORE INSERT ON channel_operations FOR EACH ROW EXECUTE FUNCTION wait()",
    )
    await obstacle.execute("SELECT pg_advisory_lock(42)")
    writing = asyncio.create_task(storage.collaboration.commit(commit(channel), lease=lease))
    await watch.until_waiting()

    async with asyncio.timeout(5):
        await storage.channels.create(creation("child", parent_id=channel.id))

    assert not writing.done()
    await obstacle.execute("SELECT pg_advisory_unlock(42)")
    await writing
