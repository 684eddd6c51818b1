"""What a room promises to the people in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from chopin_core.channel import TitlePolicy
from chopin_core.counters import PlanRevision
from chopin_core.document.splice import Splice
from chopin_core.errors import Closing, StorageUnavailable, UpdateMalformed, UpdateRefused
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import Commit, CommitResult, StoredChannel
from chopin_core.ports.leases import Lease
from chopin_core.room.batch import Submission
from chopin_core.room.events import ChannelChanged, PresenceChanged, ResetReason, RoomClosed, Struck, Updated
from chopin_core.room.limits import LARGEST_UPDATE
from chopin_core.room.room import Edit, Room, RoomView

from .house import House, Listener, put_in_place


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.001)


async def type_in(room: Room, member: Listener, index: int, text: str, name: str = "u1") -> None:
    update = member.replica.splice([Splice(index, index, text)])
    await room.submit(Submission(member=member, id=name, update=update), member.epoch)


async def stored(house: House, channel: ChannelId) -> StoredChannel:
    loaded = await house.storage.collaboration.load(channel)
    assert loaded is not None
    return loaded


async def text_after_restart(house: House, channel: ChannelId) -> str:
    second = house.second()
    async with second.rooms.hold(channel) as room:
        text = room.view().text
    await second.rooms.close()
    return text


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


@pytest.mark.parametrize(
    ("update", "reason"),
    [(b"\xff" * 40, "malformed"), (b"", "malformed"), (b"\x01\x01\x07\x05\xc4\x07\x01\x07\x02\x02XX\x00", "incomplete")],
)
async def test_bytes_that_are_no_update_cost_their_sender_a_reset_and_nobody_else_anything(
    house: House, channel: ChannelId, update: bytes, reason: str
) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        mallory.enter(room)
        await room.submit(Submission(member=mallory, id="bad", update=update), mallory.epoch)
        await type_in(room, ada, 0, "fine")
        await until(lambda: bool(ada.acknowledged) and bool(mallory.told(Struck)))
        assert mallory.told(Struck)[0].reason == reason
        assert mallory.resets == 1
        assert not mallory.acknowledged
        assert not ada.resets
        assert room.view().text == "fine"


@pytest.mark.parametrize("character", ["\0", "\x07", "\x1b", "\x7f", "\r"])
async def test_a_control_character_is_refused_and_nothing_of_its_update_stays(
    house: House, channel: ChannelId, character: str
) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        mallory.enter(room)
        await type_in(room, mallory, 0, f"bad{character}", name="bad")
        await until(lambda: mallory.resets == 1)
        assert room.view().text == ""
        assert not ada.told(Updated)
        mallory.open(room)
        await type_in(room, mallory, 0, "good", name="good")
        await until(lambda: mallory.acknowledged == ["good"])
        assert await text_after_restart(house, channel) == "good"


async def test_what_follows_a_refused_update_is_ignored_until_its_sender_opens_again(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        await type_in(room, ada, 0, "bad\0", name="bad")
        for number in range(3):
            await type_in(room, ada, 4, "more", name=f"early {number}")
        await until(lambda: ada.resets == 1)
        for number in range(3):
            await type_in(room, ada, 4, "more", name=f"late {number}")
        await asyncio.sleep(0.02)
        assert len(ada.told(Struck)) == 1
        assert ada.resets == 1
        ada.open(room)
        await type_in(room, ada, 0, "fine", name="fine")
        await until(lambda: ada.acknowledged == ["fine"])


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


async def test_a_browser_cannot_change_a_protected_block(house: House, channel: ChannelId) -> None:
    block = (
        '<Decision id="01J00000000000000000000000" quote="q" by="ada" at="now">\n<Note by="ada" text="yes" />\n</Decision>\n'
    )
    async with house.rooms.hold(channel) as room:
        mallory = Listener("mallory")
        mallory.enter(room)
        # Only the server may bring one in; a browser that tries is refused.
        await type_in(room, mallory, 0, block)
        await until(lambda: mallory.resets == 1)
        assert room.view().text == ""


async def test_an_update_over_the_limit_is_refused_without_being_looked_at(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        await room.submit(Submission(member=ada, id="huge", update=b"\0" * (LARGEST_UPDATE + 1)), ada.epoch)
        assert [event.reason for event in ada.events if hasattr(event, "reason")] == [ResetReason.REBUILT]


async def test_an_update_of_another_epoch_is_ignored(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        ada.epoch = "another"
        await type_in(room, ada, 0, "stray")
        await asyncio.sleep(0.02)
        assert room.view().text == ""
        assert not ada.acknowledged


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


async def test_an_edit_of_the_server_is_durable_and_shown_to_everybody(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        view = await room.edit(lambda view: Edit(splices=[Splice(0, 0, "from an agent")]), by="bot")
        assert view.text == ada.replica.text == "from an agent"
        assert ada.told(Updated)[0].agent
        assert view.sidecar.counters.plan == PlanRevision(1)
    assert await text_after_restart(house, channel) == "from an agent"


async def test_a_refused_edit_changes_nothing_and_the_room_goes_on(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        with pytest.raises(UpdateRefused):
            await room.edit(lambda view: Edit(splices=[Splice(0, 0, "\0")]))
        assert room.view().text == ""
        await room.edit(lambda view: Edit(splices=[Splice(0, 0, "ok")]))
        assert room.view().text == "ok"


async def test_a_caller_who_goes_away_does_not_stop_an_edit_half_way(
    house: House, channel: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, started = asyncio.Event(), asyncio.Event()
    commit = house.storage.collaboration.commit

    async def held(change: Commit, *, lease: Lease) -> CommitResult:
        started.set()
        await gate.wait()
        return await commit(change, lease=lease)

    async with house.rooms.hold(channel) as room:
        put_in_place(monkeypatch, house.storage.collaboration, "commit", held)
        caller = asyncio.create_task(room.edit(lambda view: Edit(splices=[Splice(0, 0, "kept")])))
        await started.wait()
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        gate.set()
        await until(lambda: room.view().text == "kept")
    assert await text_after_restart(house, channel) == "kept"


async def test_edits_and_updates_at_once_are_all_kept(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)

        def append(word: str) -> Callable[[RoomView], Edit]:
            return lambda view: Edit(splices=[Splice(len(view.text), len(view.text), word)])

        work: list[Awaitable[object]] = [room.edit(append(f"[{number}]")) for number in range(10)]
        work += [type_in(room, ada, 0, "a", name=str(number)) for number in range(10)]
        await asyncio.gather(*work)
        await until(lambda: len(ada.acknowledged) == 10)
        text = room.view().text
        assert all(f"[{number}]" in text for number in range(10))
        assert text.count("a") == 10
        assert text == ada.replica.text
        assert await text_after_restart(house, channel) == text


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


async def test_a_rename_is_told_to_everybody_and_moves_no_plan_revision(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada = Listener("ada")
        ada.enter(room)
        renamed = await room.rename("Better name", TitlePolicy.UNIQUE)
        assert renamed.slug == "better-name"
        assert [event.channel.title for event in ada.told(ChannelChanged)] == ["Better name"]
        assert room.view().sidecar.counters.plan == 0
        await type_in(room, ada, 0, "still works")
        await until(lambda: bool(ada.acknowledged))


async def test_people_are_seen_coming_and_going(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        room.leave(ben)
        seen = [[member.handle for member in event.members] for event in ada.told(PresenceChanged)]
        assert seen == [["ada", "ben"], ["ada"]]
        assert not ben.told(PresenceChanged)
