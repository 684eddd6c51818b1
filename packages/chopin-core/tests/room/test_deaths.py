"""The process dies, or is told to stop, before every single step that a busy room takes (cases.md 3)."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from chopin_core.errors import Closing
from chopin_core.memory.tables import Tables

from .schedule import Schedule, ScheduledLoop, Turn
from .watch import copy_of
from .world import World, check_run, world

log = logging.getLogger(__name__)


class Died(BaseException):
    """Nothing runs any more."""


async def busy(world: World) -> None:
    """Two people whose updates share commits, an agent, and a new title, then a checkpoint and the eviction."""

    async def come(name: str) -> None:
        with suppress(Closing):
            await world.visit(name, f"[{name}1]", f"[{name}2]")

    async def ask() -> None:
        with suppress(Closing):
            await world.edit("[bot1]")
            await world.rename("Plan")
            await world.edit("[bot2]")

    await asyncio.gather(come("ada"), come("ben"), ask())
    await asyncio.sleep(1)


def live_until(step: int, schedule: Schedule) -> tuple[World, Tables, set[str]]:
    """A world that ended before that step, what the disk held at that moment, and what of it nobody had been told yet."""
    made = world()

    def die() -> None:
        raise Died

    loop = ScheduledLoop(schedule, {step: die})
    try:
        loop.run_until_complete(busy(made))
    except Died:
        pass
    disk = copy_of(made.tables)
    try:
        untold = set(made.check_kept(disk)) - set(made.acknowledged)
        loop.bury()
    finally:
        loop.close()
    return made, disk, untold


def check_restart(made: World, disk: Tables) -> None:
    """A new process on the same disk: the people return with their replicas and send again what nobody acknowledged."""
    again = world(tables=disk)

    async def everybody_returns() -> None:
        async with again.inside() as room:
            for person in made.people:
                if not await person.come_back(room):
                    # Only a document that was never durable comes back as another one.
                    assert not person.acknowledged
                    continue
                await person.until(lambda person=person: set(person.sent) <= set(person.acknowledged))  # type: ignore[misc]  # default
            text = room.view().text
            assert all(person.replica.text == text for person in made.people)

    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(everybody_returns())
        loop.run_until_complete(again.house.rooms.close())
        check_run(again, loop)
    finally:
        loop.close()
    made.check_kept(disk)


def steps() -> int:
    made, loop = world(), ScheduledLoop({})
    try:
        loop.run_until_complete(busy(made))
        assert len(made.acknowledged) == 6
        return len(loop.choices)
    finally:
        loop.close()


def test_whatever_was_acknowledged_when_the_process_died_is_there_once() -> None:  # cases.md 3
    untold: set[frozenset[str]] = set()
    last = steps()
    for step in range(last):
        made, disk, words = live_until(step, {})
        check_restart(made, disk)
        untold.add(frozenset(words))
    log.info("%d deaths", last)
    # Among them some between a commit, of four updates or of an edit, and what its writers would have been told.
    assert {frozenset({"[ada1]", "[ada2]", "[ben1]", "[ben2]"}), frozenset({"[bot1]"}), frozenset({"[bot2]"})} <= untold


@settings(max_examples=150, deadline=None)
@given(
    step=st.integers(0, 90),
    schedule=st.dictionaries(st.integers(0, 90), st.sampled_from(Turn), max_size=6),
)
def test_so_it_is_when_things_happened_in_another_order(step: int, schedule: Schedule) -> None:  # cases.md 3
    made, disk, _ = live_until(step, schedule)
    check_restart(made, disk)


def stop_at(step: int, schedule: Schedule) -> None:
    made = world()
    stops: list[asyncio.Task[None]] = []
    loop = ScheduledLoop(schedule, {step: lambda: stops.append(loop.create_task(made.house.rooms.close()))})

    async def stopped() -> None:
        await busy(made)
        await asyncio.gather(*stops)

    try:
        loop.run_until_complete(stopped())
        check_run(made, loop, closed=bool(stops))
    finally:
        loop.close()
    check_restart(made, made.tables)


def test_whatever_was_acknowledged_when_the_process_was_told_to_stop_is_there_once() -> None:  # cases.md 3
    for step in range(steps()):
        stop_at(step, {})


@settings(max_examples=150, deadline=None)
@given(
    step=st.integers(0, 90),
    schedule=st.dictionaries(st.integers(0, 90), st.sampled_from(Turn), max_size=6),
)
def test_stopping_is_as_orderly_in_another_order(step: int, schedule: Schedule) -> None:  # cases.md 3
    stop_at(step, schedule)
