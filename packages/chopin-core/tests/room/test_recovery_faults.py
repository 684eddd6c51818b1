"""Faults while a document is read or rebuilt: nobody ever takes a shorter document for the truth (cases.md 2 and 15)."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import Missing, StorageUnavailable, Unavailable, UpdateMalformed
from chopin_core.ids import ChannelId
from chopin_core.memory.tables import Tables
from chopin_core.room.recovery import recover
from chopin_core.room.room import Edit, Room

from .house import Listener
from .schedule import ScheduledLoop
from .watch import Watch, WatchedStorage, copy_of
from .world import CALM, World, at_once, check_run, world

TEXT = "# Precious\n\nall of it\n"


def written() -> World:
    """A channel with a document, in part folded into a snapshot and in part in its journal."""
    made = world()

    async def write() -> None:
        async with made.inside() as room:
            for splice in (Splice(0, 0, TEXT), Splice(2, 2, "Very "), Splice(0, 0, "\n")):
                await room.edit(lambda _, splice=splice: Edit(splices=[splice]))  # type: ignore[misc]  # default
                if splice.insert == TEXT:
                    await asyncio.sleep(2 * CALM.checkpoint)

    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(write())
        # The house is never closed: its process went away before the second checkpoint.
        disk = copy_of(made.tables)
        loop.bury()
    finally:
        loop.close()
    return world(tables=disk)


def text_in(tables: Tables, channel: ChannelId) -> str:
    loaded = at_once(WatchedStorage(tables, Watch()).collaboration.load(channel))
    assert loaded is not None
    recovered = recover(loaded, PycrdtEngine())
    return "" if recovered is None else recovered.live.text


class Severed:
    """A storage that breaks off once, at one of its turns."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.asked: list[str] = []

    async def __call__(self, name: str) -> None:
        self.asked.append(name)
        if len(self.asked) == self.at + 1:
            raise StorageUnavailable("down")


@pytest.mark.parametrize(
    ("fresh", "at", "asked"),
    [(False, 0, ["load"]), (True, 0, ["load"]), (True, 1, ["load", "replace"])],
    ids=["loading", "loading for the first time", "beginning"],
)
def test_an_error_while_a_document_is_opened_leaves_no_room_and_never_an_empty_one(
    fresh: bool, at: int, asked: list[str]
) -> None:  # cases.md 2
    disk = copy_of((world() if fresh else written()).tables)
    severed = Severed(at)
    made = world(severed, tables=disk)
    before, expected = copy_of(disk), text_in(disk, made.channel)

    async def ask() -> None:
        with pytest.raises(Unavailable) as refused:
            async with made.inside():
                pass
        assert not isinstance(refused.value, Missing)
        assert severed.asked == asked
        await asyncio.sleep(0.001)
        assert len(made.house.rooms) == 0, "a room is registered"
        assert disk == before, "something was kept"
        async with made.inside() as room:
            assert room.view().text == expected

    loop = ScheduledLoop({})
    try:
        loop.run_until_complete(ask())
        loop.run_until_complete(made.house.rooms.close())
        check_run(made, loop)
    finally:
        loop.close()
    assert text_in(disk, made.channel) == expected


def rebuilt() -> tuple[World, list[Tables]]:
    """A room whose live replica fails and is rebuilt under a new epoch; what the disk held before each step."""
    made = world(tables=copy_of(written().tables))
    held: list[Tables] = []
    loop = ScheduledLoop({}, dict.fromkeys(range(200), lambda: held.append(copy_of(made.tables))))

    async def work() -> None:
        async with made.inside() as room:
            ada = Listener("ada")
            ada.enter(room)
            former = ada.epoch
            room._live = Failing(room)  # type: ignore[assignment]  # what a panic of the library does
            await ada.write(room, "more")
            await ada.until(lambda: ada.resets == 1)
            assert ada.acknowledged == ["more"]
            ada.open(room)
            assert ada.epoch != former
            assert ada.replica.text == "\n# Very Precious\n\nall of it\nmore"

    try:
        loop.run_until_complete(work())
        loop.run_until_complete(made.house.rooms.close())
        check_run(made, loop)
        assert len(held) > 10
    finally:
        loop.close()
    return made, held


class Failing:
    """A replica that shows what it held, and takes nothing in any more."""

    def __init__(self, room: Room) -> None:
        self._replica = room._live

    @property
    def text(self) -> str:
        return self._replica.text

    def update(self) -> bytes:
        return self._replica.update()

    def apply(self, update: bytes) -> None:
        raise UpdateMalformed()


def test_storage_never_holds_a_shorter_document_while_one_is_rebuilt() -> None:  # cases.md 15
    made, held = rebuilt()
    seen = [text_in(tables, made.channel) for tables in (*held, made.tables)]
    assert list(dict.fromkeys(seen)) == ["\n# Very Precious\n\nall of it\n", "\n# Very Precious\n\nall of it\nmore"]
    epochs = {snapshot.epoch for tables in held if (snapshot := tables.histories[made.channel].snapshot)}
    assert len(epochs) == 2, "it was not rebuilt"
