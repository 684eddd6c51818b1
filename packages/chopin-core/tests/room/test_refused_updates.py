"""What becomes of an update that a room does not take, and of the one who sent it."""

from __future__ import annotations

import asyncio

import pytest

from chopin_core.ids import ChannelId
from chopin_core.room.batch import Submission
from chopin_core.room.events import ResetReason, Struck, Updated
from chopin_core.room.limits import LARGEST_UPDATE

from .house import House, Listener, text_after_restart, type_in, until


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
