"""A house in a scheduled loop, the people in it, and what must be true of it whatever the schedule was."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar

import attrs

from chopin_core.channel import TitlePolicy
from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import ChannelMissing, Closing, StorageUnavailable
from chopin_core.ids import ChannelId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Tables
from chopin_core.room.events import RoomClosed
from chopin_core.room.recovery import recover
from chopin_core.room.room import Edit, Room, RoomView
from chopin_core.room.timings import Timings

from .house import House, Listener, channel_in, house_on, lease_on
from .schedule import Schedule, ScheduledLoop
from .watch import Before, Watch, WatchedStorage, copy_of, no_fault

T = TypeVar("T")
CALM = Timings(grouping=0.001, checkpoint=0.01, eviction=0.02)
NOTHING_LOST = (ChannelMissing, Closing, StorageUnavailable)
WORD = re.compile(r"\[\w+\]")


@attrs.define
class World:
    """One channel and what was promised in it. A word counts as kept once its writer was told so."""

    house: House
    channel: ChannelId
    tables: Tables
    watch: Watch
    people: list[Listener] = attrs.field(factory=list)
    answered: list[str] = attrs.field(factory=list)
    titles: list[str] = attrs.field(factory=list)

    @property
    def acknowledged(self) -> list[str]:
        return [*self.answered, *(word for person in self.people for word in person.acknowledged)]

    # What people and agents do

    @asynccontextmanager
    async def inside(self) -> AsyncIterator[Room]:
        async with self.house.rooms.hold(self.channel) as room:
            self.watch.let_in(room)
            yield room

    async def visit(self, name: str, *words: str, patient: bool = True) -> None:
        """Come, write, and go: when it is known what became of the words, or at once."""
        person = Listener(name)
        self.people.append(person)
        async with self.inside() as room:
            person.enter(room)
            for word in words:
                await person.write(room, word)
            if patient:
                await person.until(lambda: len(person.acknowledged) == len(words) or bool(person.told(RoomClosed)))
            room.leave(person)

    async def edit(self, word: str) -> None:
        """What an agent does, through the room."""

        def append(view: RoomView) -> Edit:
            end = len(view.text)
            return Edit(splices=[Splice(end, end, word)], sections={f"mcpUpdates.{word[1:-1]}": {"word": word}})

        async with self.inside() as room:
            await room.edit(append)
        self.answered.append(word)

    async def rename(self, title: str) -> None:
        async with self.inside() as room:
            await room.rename(title, TitlePolicy.UNIQUE)
        self.titles.append(title)

    # What must be true

    def check_kept(self, tables: Tables) -> list[str]:
        """The words in a database: those that were acknowledged once each, all others whole or not there."""
        history = tables.histories[self.channel]
        loaded = at_once(MemoryStorage(tables).collaboration.load(self.channel))
        assert loaded is not None
        recovered = recover(loaded, PycrdtEngine())
        if recovered is None:
            assert not self.acknowledged
            return []
        words = WORD.findall(recovered.live.text)
        assert recovered.live.text == "".join(words), "half a word"
        assert len(words) == len(set(words)), "a word twice"
        assert set(self.acknowledged) <= set(words), "an acknowledged word is lost"
        assert recovered.sidecar.counters.sequence == len(words)
        assert recovered.sidecar.counters.plan <= len(words)
        kept = {f"[{name.partition('.')[2]}]" for name in recovered.sidecar.sections}
        assert kept == {word for word in words if "bot" in word}
        assert loaded.latest == len(history.operations) == loaded.channel.revision
        if self.titles:
            assert loaded.channel.title in self.titles
        return words


Scenario = Callable[[World], Awaitable[None]]


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """What work on the in-memory storage answers; it waits for nothing but its turn, so it needs no loop."""
    while True:
        try:
            work.send(None)
        except StopIteration as answer:
            value: T = answer.value
            return value


@cache
def first() -> tuple[ChannelId, Tables]:
    """A database with one channel that nobody opened yet."""
    tables = Tables()

    async def built() -> ChannelId:
        storage = MemoryStorage(tables)
        await lease_on(storage)
        return (await channel_in(storage, "notes")).id

    return at_once(built()), tables


def world(before: Before = no_fault, timings: Timings = CALM, tables: Tables | None = None) -> World:
    """Somebody who takes over the lease on a database; on one of its own unless it is given one."""
    channel, new = first()
    tables, watch = copy_of(new) if tables is None else tables, Watch()
    [lease] = tables.leases.values()
    house = house_on(WatchedStorage(tables, watch, before=before), lease, timings)
    return World(house=house, channel=channel, tables=tables, watch=watch)


def check_run(made: World, loop: ScheduledLoop, *, closed: bool = True, fatal: int = 0) -> None:
    """One room at a time, no fault that was not asked for, and after the house was closed nothing left over."""
    loop.settle()
    assert not made.watch.wrongs, made.watch.wrongs
    assert len(made.house.fatal) == fatal, made.house.fatal
    assert not loop.complaints
    if closed:
        left = {"rooms": len(made.house.rooms), "tasks": len(asyncio.all_tasks(loop)), "timers": loop.timers}
        assert not any(left.values()), left
        assert all(room.closed for room in made.watch.rooms)


def run(scenario: Scenario, schedule: Schedule, *, before: Before = no_fault, fatal: int = 0) -> tuple[World, ScheduledLoop]:
    """Play a scenario, close the house, and look at what was left: nothing lost, nothing doubled."""
    made, loop = world(before), ScheduledLoop(schedule)

    async def played() -> None:
        await scenario(made)
        await made.house.rooms.close()

    try:
        loop.run_until_complete(played())
        check_run(made, loop, fatal=fatal)
    except BaseException as fault:
        fault.add_note(f"schedule: {dict(schedule)}")
        raise
    finally:
        loop.close()
    made.check_kept(made.tables)
    assert fatal or not made.tables.histories[made.channel].updates, "the journal is not folded"
    return made, loop
