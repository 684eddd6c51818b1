"""When a sweep of old operations begins, what it does about faults, and that it ends with its process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from chopin_core.channel import Channel
from chopin_core.counters import Epoch, StorageRevision
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import InvalidField, StorageUnavailable
from chopin_core.ids import OperationId
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.storage import MemoryStorage
from chopin_core.ports.collaboration import Commit
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_core.retention import Retention, Sweeper
from chopin_core.running import running

from room.house import channel_in
from room.schedule import ScheduledLoop

START = datetime(2026, 1, 5, tzinfo=UTC)
DAY = 86_400.0
RETENTION = Retention(window=timedelta(days=2), first=300.0, every=3600.0, step=2, pause=1.0)


@attrs.frozen
class Steps(MemoryCollaborationStore):
    """The store, and when each step of a sweep was taken; of these, some fail."""

    taken: list[tuple[float, Pruning]] = attrs.field(factory=list)
    faults: list[Exception] = attrs.field(factory=list)

    async def prune(self, pruning: Pruning, *, lease: Lease) -> Pruned:
        self.taken.append((asyncio.get_running_loop().time(), pruning))
        if self.faults:
            raise self.faults.pop(0)
        return await super().prune(pruning, lease=lease)

    @property
    def times(self) -> list[float]:
        return [at for at, _ in self.taken]


@attrs.frozen(kw_only=True)
class Site:
    """A storage whose clock is the loop's, and a sweeper on it."""

    storage: MemoryStorage
    steps: Steps
    lease: Lease
    told: list[BaseException] = attrs.field(factory=list)

    def sweeper(self, retention: Retention = RETENTION) -> Sweeper:
        return Sweeper(self.steps, lease=lambda: self.lease, retention=retention, failed=self.told.append)

    async def channel(self, name: str) -> Channel:
        return await channel_in(self.storage, name)

    async def write(self, channel: Channel, number: int) -> None:
        made = Commit(
            channel_id=channel.id,
            operation_id=OperationId(str(number)),
            expected=StorageRevision(number - 1),
            epoch=Epoch("e"),
            now=START,
        )
        await self.steps.commit(made, lease=self.lease)

    async def known(self, channel: Channel, last: int) -> list[int]:
        return [number for number in range(1, last + 1) if await self.steps.operation(channel.id, OperationId(str(number)))]


async def site() -> Site:
    loop = asyncio.get_running_loop()
    storage = MemoryStorage(clock=lambda: START + timedelta(seconds=loop.time()))
    lease = await storage.leases.acquire(WRITER, "tests", timedelta(days=365))
    assert lease is not None
    return Site(storage=storage, steps=Steps(storage.collaboration._connection), lease=lease)


def played(play: Coroutine[Any, Any, None]) -> None:
    """Run it on a loop without a clock: days pass at once."""
    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(play)
        assert loop.complaints == []
        assert not asyncio.all_tasks(loop), "nothing is left running"
        assert loop.timers == 0
    finally:
        loop.close()


def test_the_first_sweep_waits_and_the_others_follow_each_other_by_the_hour() -> None:
    async def play() -> None:
        made = await site()
        sweeper = made.sweeper()
        await asyncio.sleep(3 * 3600.0)
        await sweeper.close()
        assert made.steps.times == [300.0, 3900.0, 7500.0]
        assert made.told == []

    played(play())


def test_each_operation_is_known_for_the_window_and_gone_an_hour_later() -> None:
    async def play() -> None:
        made = await site()
        channel, sweeper = await made.channel("one"), made.sweeper()
        await made.write(channel, 1)
        await asyncio.sleep(DAY)
        await made.write(channel, 2)
        for until, known in ((2 * DAY - 1, [1, 2]), (2 * DAY + 3600, [2]), (3 * DAY - 1, [2]), (3 * DAY + 3600, [])):
            await asyncio.sleep(until - asyncio.get_running_loop().time())
            assert await made.known(channel, 2) == known
        await sweeper.close()

    played(play())


def test_a_sweep_is_a_series_of_steps_with_a_pause_after_each() -> None:
    async def play() -> None:
        made = await site()
        channels = [await made.channel(name) for name in ("one", "two", "three")]
        for channel in channels:
            for number in range(1, 4):
                await made.write(channel, number)
        await asyncio.sleep(3 * DAY)
        sweeper = made.sweeper()
        await asyncio.sleep(400.0)
        await sweeper.close()
        assert [await made.known(channel, 3) for channel in channels] == [[], [], []]
        begun = 3 * DAY + 300.0
        assert made.steps.times == [begun + step for step in range(len(made.steps.taken))]
        assert len(made.steps.taken) >= 5  # nine operations, two a step
        assert {(step.limit, step.older_than) for _, step in made.steps.taken} == {(2, timedelta(days=2))}
        assert [step.start is None for _, step in made.steps.taken].count(True) == 1

    played(play())


def test_a_sweep_that_fails_is_told_of_and_the_next_begins_anew() -> None:
    async def play() -> None:
        made = await site()
        fault, crash = StorageUnavailable("away"), ValueError("nobody foresaw it")
        made.steps.faults.extend([fault, crash])
        channel, sweeper = await made.channel("one"), made.sweeper(attrs.evolve(RETENTION, window=timedelta(0)))
        await made.write(channel, 1)
        await asyncio.sleep(2 * 3600.0)
        assert made.told == [fault, crash]
        assert await made.known(channel, 1) == [1]
        await asyncio.sleep(3600.0)
        await sweeper.close()
        assert made.told == [fault, crash]
        assert await made.known(channel, 1) == []
        assert made.steps.times == [300.0, 3900.0, 7500.0]

    played(play())


def test_without_the_lease_there_is_no_further_sweep_and_nothing_to_tell() -> None:
    async def play() -> None:
        made = await site()
        await made.storage.leases.release(made.lease)
        sweeper = made.sweeper()
        await asyncio.sleep(3 * 3600.0)
        assert made.steps.times == [300.0]
        assert made.told == []
        await sweeper.close()

    played(play())


@pytest.mark.parametrize("after", [0.0, 10.0, 300.0, 300.5])
def test_closing_ends_it_at_once_wherever_it_is(after: float) -> None:
    async def play() -> None:
        made = await site()
        channel = await made.channel("one")
        for number in range(1, 9):
            await made.write(channel, number)
        sweeper = made.sweeper(attrs.evolve(RETENTION, window=timedelta(0)))
        await asyncio.sleep(after)
        closing = asyncio.get_running_loop().time()
        await sweeper.close()
        await sweeper.close()
        assert asyncio.get_running_loop().time() == closing
        left = await made.known(channel, 8)
        await asyncio.sleep(2 * 3600.0)
        assert await made.known(channel, 8) == left != []

    played(play())


def test_a_running_chopin_sweeps_until_it_drains() -> None:
    async def play() -> None:
        made = await site()
        channel = await made.channel("one")
        for number in (1, 2):
            await made.write(channel, number)
        await made.storage.leases.release(made.lease)
        retention, told = attrs.evolve(RETENTION, window=timedelta(0), step=1), list[BaseException]()
        async with running(made.storage, PycrdtEngine(), owner="chopin", retention=retention, unswept=told.append) as chopin:
            await asyncio.sleep(300.5)
            assert await made.known(channel, 2) == [2]
            await chopin.sweeper.close()  # as a shell does that drains
            await asyncio.sleep(3600.0)
            assert await made.known(channel, 2) == [2]
        async with running(made.storage, PycrdtEngine(), owner="chopin", retention=retention, unswept=told.append):
            await asyncio.sleep(299.0)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "leaving it ends the sweeper too"
        await asyncio.sleep(3600.0)
        assert await made.known(channel, 2) == [2]
        assert told == []

    played(play())


@pytest.mark.parametrize("window", [timedelta(seconds=-1), timedelta(days=36_501)])
def test_a_window_that_cannot_be_kept_is_refused(window: timedelta) -> None:
    with pytest.raises(InvalidField) as refused:
        Retention(window=window)
    assert refused.value.field == "window"
