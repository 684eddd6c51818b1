"""Whichever wait a call is given up at, the caller hears of it, no session is left in a transaction, and the pool works on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeAlias

import pytest

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.testing import ScratchDatabase

from cancelling import GivenUp
from made import ADA, NOW, REPOSITORY, checkpoint, commit, creation, initial, replacement
from watch import Session, Watch

MOST_WAITS = 400
"""A call that goes on longer is not finding its end."""

Call: TypeAlias = Callable[[PgStorage, Channel, Lease, str], Coroutine[Any, Any, object]]


async def revision(storage: PgStorage, channel: Channel) -> StorageRevision:
    found = await storage.channels.get(channel.id)
    assert found is not None
    return found.revision


async def commits(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    wanted = commit(channel, operation_id=OperationId(name), expected=await revision(storage, channel))
    await storage.collaboration.commit(wanted, lease=lease)


async def retitles(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    wanted = commit(
        channel,
        operation_id=OperationId(name),
        expected=await revision(storage, channel),
        title=TitleChange(title=name),
    )
    await storage.collaboration.commit(wanted, lease=lease)


async def replaces(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    wanted = replacement(channel, operation_id=OperationId(name), expected=await revision(storage, channel))
    await storage.collaboration.replace(wanted, lease=lease)


async def checkpoints(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    wanted = checkpoint(channel, revision=await revision(storage, channel))
    await storage.collaboration.checkpoint(wanted, lease=lease)


async def creates(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    await storage.channels.create(creation(name, parent_id=channel.id, initial=initial()))


async def renames(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    await storage.channels.rename(channel.id, name, now=NOW)


async def puts_away(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    await storage.channels.archive(channel.id, now=NOW)
    await storage.channels.restore(channel.id, now=NOW)


async def reads(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    await storage.collaboration.load(channel.id)
    await storage.channels.list(REPOSITORY.id)
    await storage.collaboration.operation(channel.id, OperationId(name))


async def leases(storage: PgStorage, channel: Channel, lease: Lease, name: str) -> None:
    taken = await storage.leases.acquire(name, "tests", timedelta(minutes=1))
    assert taken is not None
    assert await storage.leases.renew(taken, timedelta(minutes=1)) is not None
    await storage.leases.release(taken)


@pytest.fixture(params=[commits, retitles, replaces, checkpoints, creates, renames, puts_away, reads, leases])
def call(request: pytest.FixtureRequest) -> Call:
    called: Call = request.param
    return called


async def works(storage: PgStorage, channel: Channel, lease: Lease, watch: Watch) -> None:
    """Nothing is left behind, and whatever the next caller wants can be done at once."""
    await watch.until_none_idles_in_a_transaction()
    async with asyncio.timeout(5):
        assert await storage.users.get(ADA.id) is not None
        assert await storage.leases.renew(lease, timedelta(minutes=10)) is not None
        await storage.channels.restore(channel.id, now=NOW)
        # SQLAlchemy gives a connection back in a task of its own, which a cancelled caller does not wait for.
        while storage._connections._engine.pool.checkedout():  # type: ignore[attr-defined]  # because only queue pools count
            await asyncio.sleep(0.01)


async def given_up_at_each_wait(storage: PgStorage, channel: Channel, lease: Lease, watch: Watch, call: Call) -> list[str]:
    """Try the call again and again, each time cancelled one wait later, until it is through before that; names the tries."""
    names = []
    for at in range(1, MOST_WAITS):
        names.append(f"try {at}")
        attempt = GivenUp(call(storage, channel, lease, names[-1]), at)

        async def wait(attempt: GivenUp = attempt) -> None:
            await attempt

        task = asyncio.create_task(wait())
        await asyncio.wait({task})
        if attempt.waits < at:
            await task
            return names
        assert task.cancelled(), f"{names[-1]} ended with {task.exception()!r}"
        await works(storage, channel, lease, watch)
    raise AssertionError(f"the call still waits after {MOST_WAITS} waits")


async def test_a_call_can_be_given_up_at_any_wait_of_a_warm_pool(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch, call: Call
) -> None:
    await call(storage, channel, lease, "warm")

    names = await given_up_at_each_wait(storage, channel, lease, watch, call)

    assert len(names) > 3
    await watch.until_none_idles_in_a_transaction()


async def test_a_call_can_be_given_up_while_it_connects(
    storage: PgStorage, database: ScratchDatabase, channel: Channel, lease: Lease, watch: Watch, call: Call
) -> None:
    for at in range(1, 30):
        async with await database.connect() as cold:
            task = asyncio.create_task(_given_up(call(cold, channel, lease, f"cold {at}"), at))
            await asyncio.wait({task})
            assert task.cancelled() or task.exception() is None
            await works(cold, channel, lease, watch)


async def _given_up(call: Coroutine[Any, Any, object], at: int) -> None:
    await GivenUp(call, at)


@pytest.mark.parametrize("write", [commits, retitles, replaces])
async def test_an_operation_given_up_is_kept_whole_or_not_at_all(
    storage: PgStorage, database: ScratchDatabase, channel: Channel, lease: Lease, watch: Watch, write: Call
) -> None:
    await write(storage, channel, lease, "warm")

    names = await given_up_at_each_wait(storage, channel, lease, watch, write)

    async with await database.connect() as elsewhere:
        kept = [name for name in names if await elsewhere.collaboration.operation(channel.id, OperationId(name))]
        stored = await elsewhere.collaboration.load(channel.id)
    assert stored is not None
    assert kept[-1] == names[-1]
    assert len(kept) < len(names)
    assert (stored.latest, stored.channel.revision) == (len(kept) + 1, len(kept) + 1)
    if write is not replaces:
        assert len(stored.updates) == stored.latest
    assert await watch.value("SELECT count(*) FROM channel_operations") == stored.latest


async def test_an_attempt_to_connect_that_is_given_up_hangs_up_at_once() -> None:
    called, hung_up = asyncio.Event(), asyncio.Event()

    async def silent_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        called.set()
        while await reader.read(1024):
            pass
        hung_up.set()
        writer.close()

    async with await asyncio.start_server(silent_server, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        opening = asyncio.create_task(open_storage(f"postgres://u:p@127.0.0.1:{port}/d?sslmode=disable"))
        await called.wait()

        opening.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await opening

        async with asyncio.timeout(2):
            await hung_up.wait()  # although the error, and so the way it came, is still known here
        assert caught.value.__traceback__ is not None


async def test_a_commit_that_waits_for_a_lock_is_given_up_at_once_and_is_not_kept_later(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    wanted = commit(channel)
    writing = asyncio.create_task(storage.collaboration.commit(wanted, lease=lease))
    await watch.until_waiting()

    writing.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await writing
    await obstacle.rollback()

    assert await storage.collaboration.operation(channel.id, wanted.operation_id) is None
    assert (await storage.collaboration.commit(wanted, lease=lease)).revision == 1


async def test_commits_that_were_to_go_together_go_without_the_one_whose_turn_it_was(
    storage: PgStorage, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    channels = [await storage.channels.create(creation(f"{number}")) for number in range(6)]
    await obstacle.execute("SELECT FROM channels WHERE id = '5' FOR UPDATE")
    wanted = [commit(channel) for channel in channels]
    blocked = asyncio.create_task(storage.collaboration.commit(wanted[5], lease=lease))
    await watch.until_waiting()
    writing = [asyncio.create_task(storage.collaboration.commit(one, lease=lease)) for one in wanted[:5]]
    await asyncio.sleep(0)

    writing[2].cancel()
    blocked.cancel()
    results = await asyncio.gather(*writing, blocked, return_exceptions=True)
    await obstacle.rollback()

    assert [type(result) for result in results].count(asyncio.CancelledError) == 2
    assert isinstance(results[2], asyncio.CancelledError)
    for channel, one, number in zip(channels, wanted, range(6), strict=True):
        found = await storage.collaboration.operation(ChannelId(channel.id), one.operation_id)
        assert (found is None) == (number in (2, 5))


async def test_a_commit_cancelled_in_somebody_elses_turn_is_settled_when_its_caller_hears_of_it(
    storage: PgStorage, database: ScratchDatabase, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    channels = [await storage.channels.create(creation(f"{number}")) for number in range(3)]
    wanted = [commit(channel) for channel in channels]
    await watch.run("BEGIN", "SELECT FROM channels WHERE id = '0' FOR UPDATE")
    await obstacle.execute("SELECT FROM channels WHERE id = '1' FOR UPDATE")
    first, second, third = (asyncio.create_task(storage.collaboration.commit(one, lease=lease)) for one in wanted)
    await asyncio.sleep(0.05)
    await watch.run("COMMIT")
    await first
    await watch.until_waiting()  # it is the second's turn, which takes the third along, and it waits at channel 1

    third.cancel()
    await asyncio.sleep(0.05)
    assert not third.done()
    await obstacle.rollback()

    with pytest.raises(asyncio.CancelledError):
        await third
    async with await database.connect() as elsewhere:
        assert await elsewhere.collaboration.operation(channels[2].id, wanted[2].operation_id) is not None
    await second
