"""Who waits at a channel and at the titles of its repository, and that nobody waits in a circle."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from chopin_core.channel import Channel, TitlePolicy
from chopin_core.counters import StorageRevision
from chopin_core.errors import ChannelArchived, CommitRejected, StaleWrite, TitleTaken
from chopin_core.ids import OperationId
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg.locks import LEASE_LOCKS, TITLE_LOCKS
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase

from made import NOW, REPOSITORY, checkpoint, commit, creation, replacement
from watch import Session, Watch


async def commits(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel), lease=lease)


async def replaces(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.replace(replacement(channel), lease=lease)


async def checkpoints(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.checkpoint(checkpoint(channel), lease=lease)


@pytest.mark.parametrize("write", [commits, replaces, checkpoints])
async def test_a_write_that_waited_for_another_writer_sees_what_it_left(
    storage: PgStorage,
    channel: Channel,
    lease: Lease,
    obstacle: Session,
    watch: Watch,
    write: Callable[[PgStorage, Channel, Lease], Coroutine[Any, Any, None]],
) -> None:
    await obstacle.execute("UPDATE channels SET revision = 5, next_sequence = 6")
    writing = asyncio.create_task(write(storage, channel, lease))
    await watch.until_waiting()
    await obstacle.commit()

    with pytest.raises(StaleWrite) as caught:
        await writing
    assert (caught.value.expected, caught.value.actual) == (0, 5)


async def test_a_commit_that_waited_for_the_same_operation_repeats_its_answer(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    wanted = commit(channel)
    await obstacle.execute("UPDATE channels SET revision = 1, next_sequence = 2")
    await obstacle.execute("INSERT INTO channel_operations VALUES (%s, %s, 1, 1)", (channel.id, wanted.operation_id))
    writing = asyncio.create_task(storage.collaboration.commit(wanted, lease=lease))
    await watch.until_waiting()
    await obstacle.commit()

    result = await writing
    assert (result.revision, result.sequence, result.repeated) == (1, 1, True)


async def test_a_commit_that_waited_for_an_archiving_is_refused(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("UPDATE channels SET archived_at = now()")
    writing = asyncio.create_task(storage.collaboration.commit(commit(channel), lease=lease))
    await watch.until_waiting()
    await obstacle.commit()

    with pytest.raises(ChannelArchived):
        await writing


async def test_an_archiving_that_waited_returns_the_channel_as_it_is_now(
    storage: PgStorage, channel: Channel, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    archiving = asyncio.create_task(storage.channels.archive(channel.id, now=NOW))
    await watch.until_waiting()
    await obstacle.execute("UPDATE channel_slugs SET slug = 'moved'")
    await obstacle.execute("UPDATE channels SET title = 'Moved', revision = 3")
    await obstacle.execute("UPDATE channel_state SET unanswered_decisions = 7")
    await obstacle.commit()

    found = (await archiving).channel
    assert (found.title, found.slug, found.revision, found.unanswered_decisions) == ("Moved", "moved", 3, 7)
    assert await storage.channels.get(channel.id) == found


async def test_a_lookup_waits_for_a_write_in_flight_so_that_its_answer_is_final(
    storage: PgStorage, channel: Channel, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("UPDATE channels SET revision = 1, next_sequence = 2")
    await obstacle.execute("INSERT INTO channel_operations VALUES (%s, 'operation', 1, 1)", (channel.id,))
    asking = asyncio.create_task(storage.collaboration.operation(channel.id, OperationId("operation")))
    await watch.until_waiting()
    assert not asking.done()
    await obstacle.commit()

    found = await asking
    assert found is not None
    assert (found.revision, found.sequence, found.repeated) == (1, 1, True)


async def test_whatever_gives_out_titles_waits_for_its_turn(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (TITLE_LOCKS, REPOSITORY.id))
    attempts = [
        asyncio.create_task(storage.channels.create(creation("two", title="Wanted", titles=TitlePolicy.UNIQUE))),
        asyncio.create_task(storage.channels.rename(channel.id, "wanted", now=NOW, titles=TitlePolicy.UNIQUE)),
        asyncio.create_task(
            storage.collaboration.commit(
                commit(channel, title=TitleChange(title="WANTED", titles=TitlePolicy.UNIQUE)), lease=lease
            )
        ),
    ]
    await watch.until_waiting(3)
    await obstacle.rollback()

    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    # The commit and the rename are of one channel, so both may have the title if they get it before the creation.
    assert any(isinstance(outcome, TitleTaken) for outcome in outcomes)
    assert await watch.value("SELECT count(*) FROM channel_search WHERE title_key = 'wanted'") == 1


async def test_whoever_waits_for_a_title_does_not_hold_a_channel_meanwhile(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (TITLE_LOCKS, REPOSITORY.id))
    attempts = [
        asyncio.create_task(storage.channels.rename(channel.id, "Renamed", now=NOW)),
        asyncio.create_task(storage.collaboration.commit(commit(channel, title=TitleChange(title="Written")), lease=lease)),
        asyncio.create_task(storage.channels.create(creation("child", parent_id=channel.id))),
    ]
    await watch.until_waiting(3)

    await watch.run("SELECT FROM channels FOR UPDATE NOWAIT")

    await obstacle.rollback()
    await asyncio.gather(*attempts)


async def test_a_load_sees_one_moment_however_long_it_takes(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("LOCK TABLE channel_events IN ACCESS EXCLUSIVE MODE")
    loading = asyncio.create_task(storage.collaboration.load(channel.id))
    await watch.until_waiting()
    await obstacle.execute("UPDATE channels SET revision = 1, next_sequence = 2")
    await obstacle.execute("INSERT INTO channel_events VALUES (%s, 1, 0, 'e', 'happened', 'null', now())", (channel.id,))
    await obstacle.commit()

    stored = await loading
    assert stored is not None
    assert (stored.channel.revision, stored.latest, stored.events) == (0, 0, ())


async def test_writers_of_every_kind_never_wait_in_a_circle(storage: PgStorage, lease: Lease) -> None:
    parents = [await storage.channels.create(creation(f"parent {number}")) for number in range(3)]

    async def one(number: int) -> None:
        parent = parents[number % 3]
        now = await storage.channels.get(parent.id)
        assert now is not None
        match number % 6:
            case 0:
                await storage.channels.rename(parent.id, f"Renamed {number}", now=NOW)
            case 1:
                await storage.channels.create(creation(f"child {number}", parent_id=parent.id, title="Child"))
            case 2:
                change = TitleChange(title=f"Written {number}")
                await storage.collaboration.commit(commit(parent, expected=now.revision, title=change), lease=lease)
            case 3:
                await storage.collaboration.commit(commit(parent, expected=now.revision), lease=lease)
            case 4:
                await storage.collaboration.replace(replacement(parent, expected=now.revision), lease=lease)
            case _:
                await storage.channels.restore(parent.id, now=NOW)

    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(*(one(number) for number in range(60)), return_exceptions=True)

    refused = [outcome for outcome in outcomes if outcome is not None]
    assert all(isinstance(outcome, StaleWrite) for outcome in refused), refused
    assert len(refused) < 30


async def test_a_commit_that_the_server_breaks_out_of_a_deadlock_may_be_tried_again(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SET deadlock_timeout = '1min'")  # so that it is not the obstacle that gives way
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    wanted = commit(channel)
    writing = asyncio.create_task(storage.collaboration.commit(wanted, lease=lease))
    await watch.until_waiting()
    crossing = asyncio.create_task(
        obstacle.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (LEASE_LOCKS, lease.name))
    )

    with pytest.raises(CommitRejected):
        await writing
    await crossing
    await obstacle.rollback()
    assert (await storage.collaboration.commit(wanted, lease=lease)).revision == StorageRevision(1)


async def test_groups_of_two_processes_never_wait_in_a_circle(
    storage: PgStorage, database: ScratchDatabase, lease: Lease
) -> None:
    channels = [await storage.channels.create(creation(f"{number}")) for number in range(8)]
    other = await storage.leases.acquire("other", "tests", timedelta(minutes=1))
    assert other is not None

    async def one(via: PgStorage, under: Lease, channel: Channel) -> None:
        for revision in range(12):
            with contextlib.suppress(StaleWrite):
                await via.collaboration.commit(commit(channel, expected=StorageRevision(revision)), lease=under)

    async with await database.connect() as elsewhere, asyncio.timeout(30):
        await asyncio.gather(
            *(one(storage, lease, channel) for channel in channels),
            *(one(elsewhere, other, channel) for channel in reversed(channels)),
        )
