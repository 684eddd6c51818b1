"""What a room promises to the people in it."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.document.splice import Splice
from chopin_core.errors import Closing, StorageUnavailable, UpdateMalformed
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_core.room.batch import Submission
from chopin_core.room.events import PresenceChanged, RoomClosed, Updated
from chopin_core.room.room import Edit

from .house import House, Listener, put_in_place, stored, text_after_restart, type_in, until


async def test_an_edit_reaches_the_others_and_is_acknowledged_to_its_author(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        await type_in(room, ada, 0, "Hello 😀")
        await until(lambda: ada.acknowledged == ["u1"])
        assert ben.replica.text == "Hello 😀"
        assert ben.told(Updated)[0].sender == "ada"
        assert not ada.told(Updated)


async def test_nothing_is_acknowledged_or_shown_before_it_is_durable(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    commit = house.storage.collaboration.commit

    async def held(change: Commit, *, lease: Lease) -> CommitResult:
        await gate.wait()
        return await commit(change, lease=lease)

    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        put_in_place(monkeypatch, house.storage.collaboration, "commit", held)
        await type_in(room, ada, 0, "kept?")
        await asyncio.sleep(0.05)
        assert not ada.acknowledged
        assert not ben.told(Updated)
        assert room.view().text == ""
        gate.set()
        await until(lambda: ada.acknowledged == ["u1"])
        assert (await stored(house, channel)).updates


async def test_what_was_acknowledged_is_there_after_a_restart_without_a_checkpoint(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        for number in range(20):
            await type_in(room, ada, 0, f"{number} ", name=str(number))
        await until(lambda: len(ada.acknowledged) == 20)
        assert await text_after_restart(house, channel) == ada.replica.text


async def test_updates_that_arrive_together_become_one_commit_at_one_sequence(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben, eve = Listener("ada"), Listener("ben"), Listener("eve")
        for member in (ada, ben, eve):
            member.enter(room)
        before = (await stored(house, channel)).channel.revision
        await type_in(room, ada, 0, "A", name="a")
        await type_in(room, ben, 0, "B", name="b")
        await until(lambda: bool(ada.acknowledged) and bool(ben.acknowledged))
        assert (await stored(house, channel)).channel.revision == before + 1
        assert len(eve.told(Updated)) == 1
        assert ada.replica.text == ben.replica.text == eve.replica.text
        assert room.view().sidecar.counters.sequence == 2
        assert room.view().sidecar.counters.plan == 1


async def test_an_update_that_says_nothing_new_is_acknowledged_without_a_commit(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        update = ada.replica.splice([Splice(0, 0, "once")])
        for name in ("first", "again"):
            await room.submit(Submission(member=ada, id=name, update=update), ada.epoch)
            await until(lambda name=name: name in ada.acknowledged)  # type: ignore[misc]  # mypy cannot infer the default
        loaded = await stored(house, channel)
        assert len(loaded.updates) + (loaded.snapshot is not None and loaded.snapshot.source == "once\n") == 1
        assert room.view().sidecar.counters.sequence == 1


async def test_a_live_replica_that_cannot_be_trusted_is_rebuilt_under_a_new_epoch_and_loses_nothing(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        await type_in(room, ada, 0, "before ", name="one")
        await until(lambda: bool(ada.acknowledged))

        def broken(update: bytes) -> None:
            raise UpdateMalformed()

        monkeypatch.setattr(room._live, "apply", broken)
        await type_in(room, ada, 7, "after", name="two")
        await until(lambda: ada.resets == 1)
        assert ada.acknowledged == ["one", "two"]
        former = ada.epoch
        ada.open(room)
        assert ada.epoch != former
        assert ada.replica.text == "before after"
        await type_in(room, ada, 0, "still ", name="three")
        await until(lambda: "three" in ada.acknowledged)
    assert await text_after_restart(house, channel) == "still before after"


async def test_opening_again_in_the_same_epoch_brings_only_what_is_missing(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        await type_in(room, ada, 0, "x" * 1000)
        await until(lambda: bool(ada.acknowledged))
        again = room.open(ada, ada.epoch, ada.replica.state_vector())
        whole = room.open(ada, "another epoch", ada.replica.state_vector())
        assert len(again.update) < 20 < 1000 < len(whole.update)


async def test_a_fault_of_storage_ends_the_room_without_an_acknowledgement_and_is_called_fatal(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(change: Commit, *, lease: Lease) -> CommitResult:
        raise StorageUnavailable("down")

    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        put_in_place(monkeypatch, house.storage.collaboration, "commit", down)
        await type_in(room, ada, 0, "lost?")
        await until(lambda: bool(house.fatal))
        assert not ada.acknowledged
        assert ada.told(RoomClosed)
        assert room.closed
        with pytest.raises(Closing):
            await room.edit(lambda view: Edit(splices=[Splice(0, 0, "x")]))
    assert [type(error) for error in house.fatal] == [StorageUnavailable]


async def test_the_journal_is_folded_a_moment_after_the_last_commit(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        await type_in(room, ada, 0, "# Title")
        await until(lambda: bool(ada.acknowledged))
        for _ in range(1000):
            if not (await stored(house, channel)).updates:
                break
            await asyncio.sleep(0.005)
        snapshot = (await stored(house, channel)).snapshot
        assert snapshot is not None
        assert snapshot.source == "# Title\n"
        assert snapshot.epoch == ada.epoch


async def test_people_are_seen_coming_and_going(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        room.leave(ben)
        seen = [[member.handle for member in event.members] for event in ada.told(PresenceChanged)]
        assert seen == [["ada", "ben"], ["ada"]]
        assert not ben.told(PresenceChanged)


async def test_who_opens_again_while_an_own_update_is_on_its_way_gets_it_like_everybody_else(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()
    commit = house.storage.collaboration.commit

    async def held(change: Commit, *, lease: Lease) -> CommitResult:
        await gate.wait()
        return await commit(change, lease=lease)

    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        put_in_place(monkeypatch, house.storage.collaboration, "commit", held)
        await type_in(room, ada, 0, "good", name="good")
        await type_in(room, ada, 0, "bad\0", name="bad")
        await ada.until(lambda: ada.resets == 1)
        ada.open(room)
        assert ada.replica.text == ""
        gate.set()
        await ada.until(lambda: ada.acknowledged == ["good"])
        assert ada.replica.text == ben.replica.text == room.view().text == "good"
