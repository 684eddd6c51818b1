"""Opening, sharing and putting away rooms."""

from __future__ import annotations

import asyncio
import gc
import weakref

import attrs
import pytest

from chopin_core.document.splice import Splice
from chopin_core.errors import ChannelMissing, Closing, CorruptRecord, StorageUnavailable
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import StoredChannel
from chopin_core.room.events import RoomClosed
from chopin_core.room.room import Edit, Room
from chopin_core.room.timings import Timings

from .house import House, Listener, put_in_place, until


async def test_everybody_who_holds_a_channel_is_in_the_same_room(house: House, channel: ChannelId) -> None:
    async def enter() -> Room:
        async with house.rooms.hold(channel) as room:
            await asyncio.sleep(0.01)
            return room

    rooms = await asyncio.gather(*(enter() for _ in range(8)))
    assert len(set(map(id, rooms))) == 1


async def test_an_unknown_channel_is_missing_and_leaves_no_room(house: House) -> None:
    with pytest.raises(ChannelMissing):
        async with house.rooms.hold(ChannelId("00000000-0000-4000-8000-000000000000")):
            pass
    await asyncio.sleep(0.01)
    assert len(house.rooms) == 0


async def test_a_room_stays_a_while_after_the_last_one_left_and_then_goes(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as first:
        pass
    async with house.rooms.hold(channel) as second:
        assert second is first
    await asyncio.sleep(0.1)
    assert len(house.rooms) == 0
    assert first.closed
    async with house.rooms.hold(channel) as third:
        assert third is not first


async def test_a_room_that_is_put_away_is_gone_with_its_document_and_waits_for_no_garbage_collector(
    house: House, channel: ChannelId
) -> None:
    """Documents are large and the collector comes seldom, the more so in a process that has much to keep."""
    gc.collect()
    gc.disable()
    try:
        async with house.rooms.hold(channel) as room:
            ada, eve = Listener("ada"), Listener("eve")
            ada.enter(room)
            eve.enter(room)
            await ada.write(room, "word")
            await ada.until(lambda: ada.acknowledged == ["word"])
            await eve.write(room, "bell \x07")
            await eve.until(lambda: eve.resets == 1)
            room.leave(ada)
            room.leave(eve)
            gone = weakref.ref(room)
        del room
        await until(lambda: len(house.rooms) == 0)
        await asyncio.sleep(0)
        assert gone() is None
    finally:
        gc.enable()


async def test_a_room_that_is_put_away_has_folded_its_journal(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        await room.edit(lambda view: Edit(splices=[Splice(0, 0, "words")]))
    await house.rooms.close()
    stored = await house.storage.collaboration.load(channel)
    assert stored is not None
    assert stored.snapshot is not None
    assert not stored.updates
    assert stored.snapshot.source == "words\n"


async def test_opening_while_the_room_is_put_away_waits_for_a_fresh_one(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, started = asyncio.Event(), asyncio.Event()
    checkpoint = house.storage.collaboration.checkpoint
    house = house.second(Timings(grouping=0.001, checkpoint=60, eviction=0.01))

    async def held(*words: object, **named: object) -> None:
        started.set()
        await gate.wait()
        await checkpoint(*words, **named)  # type: ignore[arg-type]  # passed on untouched

    async with house.rooms.hold(channel) as first:
        await first.edit(lambda view: Edit(splices=[Splice(0, 0, "old")]))
        put_in_place(monkeypatch, house.storage.collaboration, "checkpoint", held)
    async with asyncio.timeout(5):
        await started.wait()

    async def reopen() -> tuple[Room, str]:
        async with house.rooms.hold(channel) as room:
            await room.edit(lambda view: Edit(splices=[Splice(0, 0, "new ")]))
            return room, room.view().text

    reopened = asyncio.create_task(reopen())
    await asyncio.sleep(0.05)
    gate.set()
    second, text = await reopened
    assert second is not first
    assert text == "new old"
    await house.rooms.close()


async def test_a_failed_load_is_not_remembered_and_never_an_empty_document(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.rooms.hold(channel) as room:
        await room.edit(lambda view: Edit(splices=[Splice(0, 0, "precious")]))
    await asyncio.sleep(0.1)
    load = house.storage.collaboration.load

    async def down(channel_id: ChannelId) -> StoredChannel | None:
        raise StorageUnavailable("down")

    put_in_place(monkeypatch, house.storage.collaboration, "load", down)
    with pytest.raises(StorageUnavailable):
        async with house.rooms.hold(channel):
            pass
    put_in_place(monkeypatch, house.storage.collaboration, "load", load)
    async with house.rooms.hold(channel) as room:
        assert room.view().text == "precious"


async def test_a_corrupt_journal_row_is_named_and_hurts_no_other_channel(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (await house.channel("other")).id
    async with house.rooms.hold(channel) as room:
        for word in ("a", "b", "c"):
            await room.edit(lambda view, word=word: Edit(splices=[Splice(0, 0, word)]))  # type: ignore[misc]  # default
        load = house.storage.collaboration.load
        stored = await load(channel)
        assert stored is not None
        bad = stored.updates[1]

        async def spoiled(channel_id: ChannelId) -> StoredChannel | None:
            loaded = await load(channel_id)
            if loaded is None or channel_id != channel:
                return loaded
            rows = (loaded.updates[0], attrs.evolve(bad, update=b"\xff\xff\xff\xff"), *loaded.updates[2:])
            return attrs.evolve(loaded, updates=rows)

        put_in_place(monkeypatch, house.storage.collaboration, "load", spoiled)
        second = house.second()
        with pytest.raises(CorruptRecord) as refused:
            async with second.rooms.hold(channel):
                pass
        assert refused.value.where.endswith(f"journal at {bad.sequence}")
        async with second.rooms.hold(other) as healthy:
            assert healthy.view().text == ""
        await second.rooms.close()


async def test_draining_makes_what_was_taken_in_durable_and_tells_the_members(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        edits = [asyncio.create_task(room.edit(lambda view: Edit(splices=[Splice(0, 0, "x")]))) for _ in range(5)]
        await asyncio.sleep(0)
        await house.rooms.close()
        await asyncio.gather(*edits)
        assert ada.told(RoomClosed)
        with pytest.raises(Closing):
            async with house.rooms.hold(channel):
                pass
    stored = await house.storage.collaboration.load(channel)
    assert stored is not None
    assert stored.snapshot is not None
    assert stored.snapshot.source == "xxxxx\n"
