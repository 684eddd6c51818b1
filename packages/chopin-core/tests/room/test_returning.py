"""People whose server went away and came back: what they wrote is there once, and no two histories are ever merged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from chopin_core.counters import Epoch
from chopin_core.document.splice import Splice
from chopin_core.ports.pruning import Pruning
from chopin_core.room.batch import Submission
from chopin_core.room.events import Acknowledged, Struck

from .house import Listener
from .schedule import ScheduledLoop
from .watch import copy_of
from .world import CALM, World, world

NAMES = ("ada", "ben", "eve")


async def write_a_round(made: World, number: int) -> None:
    """Everybody comes back with the replica they had and writes a word; who is reset starts over and writes it again."""
    async with made.inside() as room:
        for person in made.people:
            await person.come_back(room)
        for person in made.people:
            word, resets = f"[{person.view.handle}{number}]", person.resets
            await person.write(room, word)
            await person.until(lambda: word in person.acknowledged or person.resets > resets)  # noqa: B023  # awaited here
            if word not in person.acknowledged:
                person.open(room)
                await person.write(room, word)
                await person.until(lambda: word in person.acknowledged)  # noqa: B023  # awaited here
        assert {person.replica.text for person in made.people} == {room.view().text}
        for person in made.people:
            room.leave(person)


async def first_round(made: World) -> None:
    made.people = [Listener(name) for name in NAMES]
    async with made.inside() as room:
        for person in made.people:
            person.enter(room)
            room.leave(person)
    await write_a_round(made, 0)


def next_process(made: World) -> World:
    """Another process on what the one before left behind; it was not asked to stop."""
    again = world(tables=copy_of(made.tables))
    again.people = made.people
    return again


def play_alone(act: Callable[[], Coroutine[Any, Any, None]]) -> None:
    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(act())
        loop.bury()
    finally:
        loop.close()


def play(made: World, number: int) -> None:
    play_alone(lambda: write_a_round(made, number) if number else first_round(made))


def test_after_ten_restarts_every_word_of_three_people_is_there_once() -> None:  # cases.md 14
    made = world()
    play(made, 0)
    for number in range(1, 11):
        made = next_process(made)
        play(made, number)
    words = made.check_kept(made.tables)
    assert len(words) == 33
    assert all(person.resets == 0 for person in made.people)


def test_after_ten_evictions_every_word_is_there_once() -> None:  # cases.md 14
    made, loop = world(), ScheduledLoop({})

    async def rounds() -> None:
        await first_round(made)
        for number in range(1, 11):
            await asyncio.sleep(2 * CALM.eviction)
            assert len(made.house.rooms) == 0
            await write_a_round(made, number)

    try:
        loop.run_until_complete(rounds())
        loop.bury()
    finally:
        loop.close()
    assert len(made.check_kept(made.tables)) == 33


def test_after_storage_was_restored_from_an_older_copy_nobody_brings_back_half_of_what_is_gone() -> None:  # cases.md 14
    made = world()
    play(made, 0)
    for number in range(1, 11):
        older = next_process(made)
        play(made, number + 100)
        for person in made.people:
            forget(person, f"[{person.view.handle}{number + 100}]")
        before = [person.resets for person in made.people]
        made = older
        play(made, number)
        # Each was told, since what it wrote next built on a word that is not there.
        assert [person.resets for person in made.people] == [resets + 1 for resets in before]
    words = made.check_kept(made.tables)
    assert len(words) == 33


def forget(person: Listener, word: str) -> None:
    """The disk that this was acknowledged on is gone."""
    del person.sent[word]
    person.events = [event for event in person.events if not (isinstance(event, Acknowledged) and event.id == word)]


async def test_a_replica_of_another_epoch_is_told_so_and_never_merged() -> None:  # cases.md 14
    made = world()
    async with made.inside() as room:
        ada, stranger = Listener("ada"), Listener("stranger")
        ada.enter(room)
        await ada.write(room, "[ada1]")
        await ada.until(lambda: bool(ada.acknowledged))
        stranger.enter(room)
        stranger.epoch = Epoch("another")
        await stranger.write(room, "[stranger1]")
        assert not await stranger.come_back(room)
        assert (stranger.epoch, stranger.replica.text) == (ada.epoch, "[ada1]")
        await ada.write(room, "[ada2]")
        await ada.until(lambda: len(ada.acknowledged) == 2)
        assert stranger.acknowledged == []
        assert stranger.replica.text == ada.replica.text == room.view().text == "[ada1][ada2]"
    await made.house.rooms.close()


@pytest.mark.parametrize("then", ["at once", "after a checkpoint", "after a restart"])
@pytest.mark.parametrize("lost", range(3))
def test_what_follows_a_lost_update_is_not_acknowledged_until_that_came_too(lost: int, then: str) -> None:  # cases.md 29
    made, words = world(), [f"[ada{number}]" for number in range(5)]
    ada, ben = Listener("ada"), Listener("ben")
    made.people = [ada]

    async def lose() -> None:
        async with made.inside() as room:
            ada.enter(room)
            ben.enter(room)
            for word in words[:lost]:
                await ada.write(room, word)
            await ada.until(lambda: len(ada.acknowledged) == lost)
            epoch, ada.epoch = ada.epoch, "nowhere"  # what is sent to another epoch is ignored, as if the network lost it
            await ada.write(room, words[lost])
            ada.epoch = epoch
            for word in words[lost + 1 :]:
                await ada.write(room, word)
            await ada.until(lambda: ada.resets == 1)
            assert [event.reason for event in ada.told(Struck)] == ["incomplete"]
            await asyncio.sleep(2 * CALM.checkpoint if then == "after a checkpoint" else 0)
            assert ada.acknowledged == words[:lost]
            assert room.view().text == ben.replica.text == "".join(words[:lost])
            if then != "after a restart":
                await send_again(made)

    async def send_again(made: World) -> None:
        async with made.inside() as room:
            assert await ada.come_back(room)
            await ada.until(lambda: set(ada.acknowledged) == set(words))
            assert room.view().text == ada.replica.text == "".join(words)

    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(lose())
        if then == "after a restart":
            made.check_kept(copy_of(made.tables))
            made = next_process(made)
            loop.run_until_complete(send_again(made))
        loop.bury()
    finally:
        loop.close()
    assert made.check_kept(made.tables) == words


@pytest.mark.parametrize("then", ["at once", "after a checkpoint", "after a restart"])
def test_what_is_sent_again_after_its_operation_was_forgotten_is_acknowledged_and_there_once(then: str) -> None:
    made, words = world(), ["[ada0]", "[ada1]", "[ada2]"]
    ada = Listener("ada")
    made.people = [ada]

    async def write_and_never_hear_of_it() -> None:
        async with made.inside() as room:
            ada.enter(room)
            for word in words:
                await ada.write(room, word)
            ada.sent["cut"] = cut = ada.replica.splice([Splice(0, len(words[0]), "")])
            await room.submit(Submission(member=ada, id="cut", update=cut), ada.epoch)
            await ada.until(lambda: len(ada.acknowledged) == 4)
            ada.events.clear()
            await asyncio.sleep(2 * CALM.checkpoint if then == "after a checkpoint" else 0)
            everything = Pruning(older_than=timedelta(0), limit=100)
            await made.house.storage.collaboration.prune(everything, lease=made.house.lease)
            assert not made.tables.histories[made.channel].operations
            if then != "after a restart":
                room.leave(ada)
                await send_again(made)

    async def send_again(made: World) -> None:
        history = made.tables.histories[made.channel]
        before = history.latest
        async with made.inside() as room:
            assert await ada.come_back(room)
            await ada.until(lambda: set(ada.acknowledged) == {*words, "cut"})
            assert room.view().text == ada.replica.text == "".join(words[1:])
        assert history.latest == before, "there was nothing to keep"

    play_alone(write_and_never_hear_of_it)
    if then == "after a restart":
        made = next_process(made)
        play_alone(lambda: send_again(made))
