"""Changes that the server makes, for agents and for titles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from chopin_core.channel import TitlePolicy
from chopin_core.counters import PlanRevision
from chopin_core.document.splice import Splice
from chopin_core.errors import UpdateRefused
from chopin_core.ids import ChannelId
from chopin_core.ports.collaboration import Commit, CommitResult
from chopin_core.ports.leases import Lease
from chopin_core.room.events import ChannelChanged, Updated
from chopin_core.room.room import Edit, RoomView

from .house import House, Listener, put_in_place, text_after_restart, type_in, until


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
