"""Cursors: one a connection, readable, gone with it."""

from __future__ import annotations

import pytest

from chopin_core.errors import UpdateMalformed
from chopin_core.ids import ChannelId
from chopin_core.room.events import CursorsMoved
from chopin_core.room.presence import LARGEST_AWARENESS, CursorState, decode_awareness, encode_awareness

from .house import House, Listener


def awareness(client_id: int, clock: int = 1, json: bytes = b'{"user":{"name":"ada"}}') -> bytes:
    return encode_awareness([CursorState(client_id=client_id, clock=clock, json=json)])


def test_a_state_survives_its_encoding() -> None:
    state = CursorState(client_id=2**53 - 1, clock=300, json='{"name":"Zoë"}'.encode())
    assert decode_awareness(encode_awareness([state])) == state


@pytest.mark.parametrize(
    "update",
    [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff",
        b"\x01\x05\x01\x09short",
        b"\x01\x05\x01\x02long",
        b"\xff" * 12,
        encode_awareness([CursorState(client_id=n, clock=1, json=b"{}") for n in (1, 2)]),
        awareness(1, json=b"x" * LARGEST_AWARENESS),
    ],
)
def test_anything_but_one_readable_state_is_malformed(update: bytes) -> None:
    with pytest.raises(UpdateMalformed):
        decode_awareness(update)


async def test_a_cursor_is_shown_to_the_others_and_to_those_who_come_later(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben, eve = Listener("ada"), Listener("ben"), Listener("eve")
        ada.enter(room)
        ben.enter(room)
        room.move_cursor(ada, ada.epoch, awareness(7))
        assert [event.update for event in ben.told(CursorsMoved)] == [awareness(7)]
        assert not ada.told(CursorsMoved)
        room.join(eve)
        assert room.open(eve).cursors == awareness(7)


async def test_a_cursor_goes_with_its_connection(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, ben = Listener("ada"), Listener("ben")
        ada.enter(room)
        ben.enter(room)
        room.move_cursor(ada, ada.epoch, awareness(7, clock=4))
        room.leave(ada)
        assert ben.told(CursorsMoved)[-1].update == awareness(7, clock=5, json=b"null")
        assert room.open(ben).cursors is None


async def test_nobody_can_speak_for_another_client(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        mallory.enter(room)
        room.move_cursor(ada, ada.epoch, awareness(7))
        room.move_cursor(mallory, mallory.epoch, awareness(7, clock=9, json=b"null"))
        assert not ada.told(CursorsMoved)
        assert room.open(ada).cursors == awareness(7)


async def test_inventing_client_ids_leaves_only_the_last(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        mallory.enter(room)
        for client_id in range(100, 1100):
            room.move_cursor(mallory, mallory.epoch, awareness(client_id))
        assert room.open(ada).cursors == awareness(1099)
        room.leave(mallory)
        assert room.open(ada).cursors is None
