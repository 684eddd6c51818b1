"""Somebody who sends spoiled updates into a room where others write (cases.md 35 and 36)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from engines.editing import PIECES
from engines.mutations import mutated
from hypothesis import given, settings
from hypothesis import strategies as st

from chopin_core.document.splice import Splice
from chopin_core.engines.encoding import write_update
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import Id, Run, Update, read_vector
from chopin_core.errors import UpdateMalformed
from chopin_core.ids import ChannelId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.room.batch import Submission
from chopin_core.room.events import Struck, Updated
from chopin_core.room.recovery import Recovered, recover
from chopin_core.room.room import Room

from .house import House, Listener
from .schedule import ScheduledLoop
from .world import World, check_run, world


async def recovered(made: World) -> Recovered:
    """What a process that starts now would open."""
    loaded = await MemoryStorage(made.tables).collaboration.load(made.channel)
    assert loaded is not None
    found = recover(loaded, PycrdtEngine())
    assert found is not None
    return found


def replica_of(room: Room) -> tuple[str, dict[int, int]]:
    """The live document as it is given to somebody who comes now: its text and its state vector."""
    newcomer = Listener("newcomer")
    whole = PycrdtEngine().load([room.open(newcomer).update])
    room.close(newcomer)
    return whole.text, read_vector(whole.state_vector())


class Mallory(Listener):
    """Sends what was an update of this very document once, and tells what became of it."""

    def __init__(self, random: Random) -> None:
        super().__init__("mallory")
        self._random = random
        self._seen: list[bytes] = []
        self._sent = 0

    def spoiled(self) -> bytes:
        start = self._random.randrange(len(self.replica.text) + 1)
        mine = PycrdtEngine().load([self.replica.update()]).splice([Splice(start, start, self._random.choice(PIECES))])
        return mutated(self._random.choice((mine, self.replica.update(), *self._seen)), self._random)

    async def send(self, room: Room, update: bytes) -> str:
        self._seen = [event.update for event in self.told(Updated)][-5:]
        self._sent += 1
        refusals, name = len(self.told(Struck)), str(self._sent)
        await room.submit(Submission(member=self, id=name, update=update), self.epoch)
        await self.until(lambda: name in self.acknowledged or len(self.told(Struck)) > refusals)
        if name in self.acknowledged:
            return "taken"
        self.open(room)
        return self.told(Struck)[-1].reason


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_after_a_refused_update_everything_is_as_it_was(seed: int) -> None:  # cases.md 36
    made, loop, outcomes = world(), ScheduledLoop({}), Counter[str]()

    async def play() -> None:
        mallory, ada = Mallory(Random(seed)), Listener("ada")
        async with made.inside() as room:
            ada.enter(room)
            mallory.enter(room)
            for number in range(3):
                await ada.write(room, f"[ada{number} 中😀]")
            await ada.until(lambda: len(ada.acknowledged) == 3)
            for _ in range(8):
                before = replica_of(room), made.tables.channels[made.channel].revision
                outcome = await mallory.send(room, mallory.spoiled())
                outcomes[outcome] += 1
                if outcome != "taken":
                    assert (replica_of(room), made.tables.channels[made.channel].revision) == before
                fresh = await recovered(made)
                assert (fresh.live.text, read_vector(fresh.live.state_vector())) == replica_of(room)
                assert fresh.live.text == ada.replica.text == room.view().text
            assert ada.resets == 0

    try:
        loop.run_until_complete(play())
        loop.run_until_complete(made.house.rooms.close())
        check_run(made, loop)
    finally:
        loop.close()


def test_the_others_write_on_undisturbed_while_one_sends_spoiled_updates() -> None:  # cases.md 35
    made, loop, outcomes = world(), ScheduledLoop({}), Counter[str]()

    async def play() -> None:
        mallory, ada, ben = Mallory(Random(35)), Listener("ada"), Listener("ben")
        async with made.inside() as room:
            for member in (ada, ben, mallory):
                member.enter(room)
            for number in range(150):
                # In one batch with the spoiled one, from before and from after it.
                await ada.write(room, f"[a{number}]")
                try:
                    spoiled = mallory.spoiled()
                except UpdateMalformed:
                    pytest.fail("what the room gave out cannot be read")
                sent = loop.create_task(mallory.send(room, spoiled))
                await ben.write(room, f"[b{number}]", at=0)
                outcomes[await sent] += 1
                await ada.until(lambda: len(ada.acknowledged) == number + 1)  # noqa: B023  # awaited here
                await ben.until(lambda: len(ben.acknowledged) == number + 1)  # noqa: B023  # awaited here
                assert ada.replica.text == ben.replica.text == room.view().text
            assert (ada.resets, ben.resets) == (0, 0)
            # What was taken is an edit like any other; it may well delete or repeat what others wrote.
            assert replica_of(room)[0] == (await recovered(made)).live.text == room.view().text

    try:
        loop.run_until_complete(play())
        loop.run_until_complete(made.house.rooms.close())
        check_run(made, loop)
    finally:
        loop.close()
    assert outcomes["malformed"] > 50
    assert outcomes["incomplete"] > 2


class Ambiguous:
    """A replica that shows one text, and gives out a document that opens as another."""

    def __init__(self, room: Room) -> None:
        self.text = room.view().text

    def update(self) -> bytes:
        other = PycrdtEngine().new()
        other.splice([Splice(0, 0, "".join(reversed(self.text)))])
        return other.update()


def test_a_document_that_would_open_as_another_is_rebuilt_before_it_is_stored() -> None:  # cases.md 13 and 37
    made, loop = world(), ScheduledLoop({})

    async def play() -> None:
        ada = Listener("ada")
        async with made.inside() as room:
            ada.enter(room)
            former = ada.epoch
            await ada.write(room, "[ada1]")
            await ada.until(lambda: bool(ada.acknowledged))
            room._live = Ambiguous(room)  # type: ignore[assignment]  # hostile updates could do this
            await ada.until(lambda: ada.resets == 1)
            ada.open(room)
            assert ada.epoch != former
            await ada.write(room, "[ada2]")
            await ada.until(lambda: len(ada.acknowledged) == 2)
            assert (await recovered(made)).live.text == ada.replica.text == room.view().text == "[ada1][ada2]"

    try:
        loop.run_until_complete(play())
        loop.run_until_complete(made.house.rooms.close())
        check_run(made, loop)
    finally:
        loop.close()
    assert made.check_kept(made.tables) == ["[ada1]", "[ada2]"]


async def test_a_batch_that_deletes_a_character_and_then_types_into_it_resets_nobody_else(
    house: House, channel: ChannelId
) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        await ada.write(room, "a😀b")
        await ada.until(lambda: bool(ada.acknowledged))
        mallory.enter(room)
        [client] = read_vector(mallory.replica.state_vector())
        within = Update({99: [Run(0, 1, Id(client, 1), Id(client, 2), "x")]}, {})
        deleted = Update({}, {client: [(1, 3)]})
        for name, update in (("deletion", deleted), ("insertion", within)):
            await room.submit(Submission(member=mallory, id=name, update=write_update(update)), mallory.epoch)
        await mallory.until(lambda: len(mallory.acknowledged) + len(mallory.told(Struck)) == 2)
        await ada.write(room, "!", at=0)
        await ada.until(lambda: len(ada.acknowledged) == 2)
        assert ada.resets == 0
        assert room.view().text in ("!axb", "!ab")
