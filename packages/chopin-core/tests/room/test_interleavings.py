"""Opening, eviction, checkpoints and edits of one room, in every order that a few delays can bring about."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chopin_core.errors import Closing, StorageUnavailable

from .schedule import Schedule, ScheduledLoop, Turn, explore
from .watch import failing_once
from .world import CALM, Scenario, World, run

log = logging.getLogger(__name__)


async def leave_while_a_checkpoint_is_due(world: World) -> None:
    await world.visit("ada", "[ada1]", "[ada2]")


async def leave_while_an_update_is_in_flight(world: World) -> None:
    await asyncio.gather(world.visit("ada", "[ada1]", patient=False), world.visit("ben", "[ben1]", patient=False))
    await world.house.rooms.close()
    assert len(world.acknowledged) == 2, "what was taken in was not finished"


async def come_back_while_the_room_is_put_away(world: World) -> None:
    async def back() -> None:
        await asyncio.sleep(CALM.eviction)
        await world.visit("ben", "[ben1]")

    await world.visit("ada", "[ada1]")
    await back()


async def two_open_at_once(world: World) -> None:
    await asyncio.gather(world.visit("ada", "[ada1]"), world.visit("ben", "[ben1]"))


async def an_agent_edits_and_renames_while_the_room_is_put_away(world: World) -> None:
    async def agent() -> None:
        await asyncio.sleep(CALM.eviction)
        await asyncio.gather(world.edit("[bot1]"), world.rename("Plan"))

    await world.visit("ada", "[ada1]")
    await agent()


async def close_while_opening(world: World) -> None:
    async def come(name: str) -> None:
        with suppress(Closing):
            await world.visit(name, f"[{name}1]")

    async def close() -> None:
        await asyncio.sleep(0)
        await world.house.rooms.close()

    await asyncio.gather(come("ada"), come("ben"), close())


async def callers_go_away(world: World) -> None:
    """One from the door of a room that is put away, one from the middle of an edit."""

    async def soon_cancelled(work: Coroutine[Any, Any, None], steps: int) -> None:
        task = asyncio.create_task(work)
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    await world.visit("ada", "[ada1]")
    await asyncio.sleep(CALM.eviction)
    await asyncio.gather(soon_cancelled(world.visit("ben", "[ben1]"), 2), soon_cancelled(world.edit("[bot1]"), 6))


async def everything_at_once(world: World) -> None:
    async def later(wait: float, work: Coroutine[Any, Any, None]) -> None:
        await asyncio.sleep(wait)
        await work

    await asyncio.gather(
        world.visit("ada", "[ada1]", "[ada2]"),
        world.visit("ben", "[ben1]", patient=False),
        world.edit("[bot1]"),
        later(CALM.checkpoint, world.rename("Plan")),
        later(CALM.eviction, world.edit("[bot2]")),
        later(CALM.eviction + CALM.grouping, world.visit("eve", "[eve1]")),
    )


SCENARIOS: dict[Scenario, int] = {
    leave_while_a_checkpoint_is_due: 3,
    leave_while_an_update_is_in_flight: 2,
    come_back_while_the_room_is_put_away: 2,
    two_open_at_once: 2,
    an_agent_edits_and_renames_while_the_room_is_put_away: 2,
    close_while_opening: 2,
    callers_go_away: 1,
    everything_at_once: 1,
}
"""How many delays each is tried with: as many as stay within a few thousand schedules."""


@pytest.mark.parametrize(("scenario", "delays"), SCENARIOS.items(), ids=[scenario.__name__ for scenario in SCENARIOS])
def test_no_order_of_events_loses_doubles_or_leaves_anything(
    scenario: Scenario, delays: int, record_property: Callable[[str, object], None]
) -> None:
    tried = explore(lambda schedule: run(scenario, schedule)[1], delays)
    log.info("%d schedules", tried)
    record_property("schedules", tried)
    assert tried > 50


@settings(max_examples=300, deadline=None)
@given(
    scenario=st.sampled_from([callers_go_away, close_while_opening, everything_at_once]),
    schedule=st.dictionaries(st.integers(0, 140), st.sampled_from(Turn), max_size=12),
)
def test_many_delays_do_no_harm_either(scenario: Scenario, schedule: Schedule) -> None:
    run(scenario, schedule)


async def two_come_and_one_writes_again_later(world: World) -> None:
    async def come(name: str) -> None:
        with suppress(StorageUnavailable):
            await world.visit(name, f"[{name}1]")

    await asyncio.gather(come("ada"), come("ben"))
    await world.visit("eve", "[eve1]")


async def people_and_an_agent_write_and_one_comes_later(world: World) -> None:
    async def agent() -> None:
        with suppress(Closing, StorageUnavailable):
            await world.edit("[bot1]")

    await asyncio.gather(world.visit("ada", "[ada1]"), agent())
    await world.visit("eve", "[eve1]")


def test_an_open_that_fails_while_another_waits_costs_only_the_one_who_asked() -> None:
    def play(schedule: Schedule) -> ScheduledLoop:
        made, loop = run(two_come_and_one_writes_again_later, schedule, before=failing_once("load"))
        assert len(made.acknowledged) == 2
        return loop

    log.info("%d schedules", explore(play, 2))


@pytest.mark.parametrize("at", range(2))
def test_a_room_that_ended_with_a_fault_never_writes_again(at: int) -> None:
    def play(schedule: Schedule) -> ScheduledLoop:
        scenario = people_and_an_agent_write_and_one_comes_later
        made, loop = run(scenario, schedule, before=failing_once("commit", at), fatal=1)
        assert "[eve1]" in made.acknowledged
        return loop

    log.info("%d schedules", explore(play, 2))
