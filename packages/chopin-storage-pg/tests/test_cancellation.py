"""Calls given up while they wait for a lock, a turn or a silent server; ``test_interruptions.py`` has every other wait."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.channel import Channel
from chopin_core.ids import ChannelId
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.testing import ScratchDatabase

from made import commit, creation
from watch import Session, Watch


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


# cases.md 24
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
