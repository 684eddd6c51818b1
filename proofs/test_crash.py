"""The proof of ``make crash`` in short form, and in the words of its promises."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from chopin_storage_pg.testing import ScratchServer, open_server

from .crash.kills import Moment, kills
from .crash.local import local_scene
from .crash.pauses import Moment as Standstill
from .crash.pauses import pause
from .crash.report import Tally
from .crash.stops import stops


@pytest.fixture(scope="module")
def postgres() -> Iterator[ScratchServer]:
    with open_server() as server:
        yield server


@pytest.fixture
def random() -> Random:
    """Another one each time; a run that failed is repeated with the seed that it printed."""
    seed = Random().randrange(sys.maxsize)
    print(f"seed {seed}")  # noqa: T201  # pytest shows it beside a failure
    return Random(seed)


def nothing_wrong(tally: Tally) -> bool:
    """A violation was raised where it was found; what is left to see is that there was something to lose, and no loss."""
    return tally.acknowledged == tally.count(lambda update: True) > 0 and tally.count(lambda update: update.in_flight) > 0


async def test_kills_at_every_kind_of_moment_lose_and_double_nothing(tmp_path: Path, random: Random) -> None:
    tally = Tally()
    async with local_scene(tmp_path, random, tally) as (scene, _):
        done = [line async for line in kills(scene, len(Moment))]
    assert len(done) == len(Moment)
    assert nothing_wrong(tally)


async def test_a_database_that_stops_at_once_takes_nothing_acknowledged_with_it(tmp_path: Path, random: Random) -> None:
    tally = Tally()
    async with local_scene(tmp_path, random, tally) as (scene, database):
        assert [line async for line in stops(scene, database, 1)]
    assert nothing_wrong(tally)


async def test_a_writer_that_stood_still_past_its_lease_writes_nothing_after_the_take_over(
    tmp_path: Path, postgres: ScratchServer, random: Random
) -> None:
    tally = Tally()
    await pause(postgres, tmp_path, random, tally, Standstill.TYPING)
    assert nothing_wrong(tally)
