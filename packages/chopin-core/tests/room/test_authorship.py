"""Nobody types as somebody else, so nobody can make another's edit look like a lie."""

from __future__ import annotations

import pytest
from pycrdt import Doc, Text

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import read_vector
from chopin_core.ids import ChannelId
from chopin_core.room.batch import Submission
from chopin_core.room.events import Struck
from chopin_core.room.presence import CursorState, encode_awareness
from chopin_core.room.room import Room

from .house import House, Listener


def client_of(listener: Listener) -> int:
    """The client id under which a listener's replica types; it has to have typed."""
    mine = PycrdtEngine().new()
    mine.apply(next(iter(listener.sent.values())))
    [client] = read_vector(mine.state_vector())
    return client


def typed_as(client: int, whole: bytes, text: str) -> bytes:
    """What somebody would send who goes on under a client id, from the document as it is."""
    forged: Doc[Text] = Doc(client_id=client)
    forged["source"] = shared = Text()
    forged.apply_update(whole)
    before = forged.get_state()
    shared.insert(0, text)
    return forged.get_update(before)


async def sent(room: Room, listener: Listener, update: bytes) -> None:
    await room.submit(Submission(member=listener, id="forged", update=update), listener.epoch)


async def test_an_edit_under_the_next_clock_of_somebody_else_is_refused_and_theirs_is_kept(
    house: House, channel: ChannelId
) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        await ada.write(room, "[ada1]")
        await ada.until(lambda: ada.acknowledged == ["[ada1]"])
        mallory.enter(room)

        await sent(room, mallory, typed_as(client_of(ada), mallory.replica.update(), "forged"))
        await ada.write(room, "[ada2]")
        await ada.until(lambda: len(ada.acknowledged) == 2)

        assert [strike.reason for strike in mallory.told(Struck)] == ["foreign-client"]
        assert (ada.resets, ada.told(Struck)) == (0, [])
        assert room.view().text == ada.replica.text == "[ada1][ada2]"


async def test_who_shows_a_cursor_is_known_before_they_type(house: House, channel: ChannelId) -> None:
    async with house.rooms.hold(channel) as room:
        ada, mallory = Listener("ada"), Listener("mallory")
        ada.enter(room)
        mallory.enter(room)
        room.move_cursor(ada, ada.epoch, encode_awareness([CursorState(client_id=77, clock=1, json=b"{}")]))

        await sent(room, mallory, typed_as(77, mallory.replica.update(), "forged"))
        await mallory.until(lambda: bool(mallory.told(Struck)))
        await sent(room, ada, typed_as(77, ada.replica.update(), "mine"))
        await ada.until(lambda: ada.acknowledged == ["forged"])

        assert room.view().text == "mine"


@pytest.mark.parametrize("handle", ["ada", "ben"])
async def test_one_person_may_go_on_under_the_id_of_a_tab_that_was_closed_and_another_may_not(
    house: House, channel: ChannelId, handle: str
) -> None:
    async with house.rooms.hold(channel) as room:
        first, later = Listener("ada"), Listener(handle)
        first.enter(room)
        await first.write(room, "[one]")
        await first.until(lambda: bool(first.acknowledged))
        room.leave(first)
        later.enter(room)

        await sent(room, later, typed_as(client_of(first), later.replica.update(), "[two]"))
        await later.until(lambda: bool(later.acknowledged or later.told(Struck)))

        assert bool(later.acknowledged) is (handle == "ada")
