"""Losing the connection: what is shown meanwhile, and that everything arrives once afterwards."""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import expect

from .agent import stored
from .conftest import NewPerson
from .frames import Frames
from .server import Server
from .waiting import eventually
from .wire import Wire

HEARTBEAT = 15.0
"""A question every 10 s that has to be answered within 5 s; then the connection counts as dead."""


async def test_a_blip_shows_nothing_and_loses_nothing(server: Server, wire: Wire, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada", proxy=wire.proxy), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("before ")
    await ada.sees_state("saved")
    wire.cut()
    wire.mend()
    seen = set()
    for letter in "during ":
        await ada.page.keyboard.type(letter, delay=30)
        seen.add(await ada.state())
    await ada.sees_state("saved")
    await ada.type("after")
    await ben.sees_text("before during after")
    await ada.sees_state("saved")
    assert await stored(server, document) == "before during after\n"
    assert seen <= {"saving", "saved"}
    await expect(ada.page.get_by_role("alert")).to_have_count(0)


async def test_a_dropped_connection_heals_by_itself_and_sends_what_was_typed_meanwhile(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada, ben = await new_person(server, "ada", proxy=wire.proxy), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("before ")
    await ada.sees_state("saved")
    wire.freeze()
    await ada.page.keyboard.type("under way ")
    await ada.sees_state("saving")
    # What was on its way does not get there.
    wire.cut()
    wire.thaw()
    await ada.sees_state("reconnecting")
    await expect(ada.page.get_by_role("status")).to_contain_text("Reconnecting")
    await ada.page.keyboard.type("during ")
    await ada.sees_text("before under way during ")
    await eventually(ben.people, ["ben (you)"])
    await ben.type("and ben ")
    wire.mend()
    await ada.sees_state("saved")
    await eventually(lambda: ada.page.get_by_role("status").text_content(), "")
    text = await ada.text()
    assert text in ("before under way during and ben ", "before and ben under way during ")
    await ben.sees_text(text)
    assert await stored(server, document) == text + "\n"
    await eventually(ben.carets, ["ada"])
    await eventually(ada.carets, ["ben"])


async def test_a_long_outage_makes_the_page_say_offline_and_hold_still_until_the_network_is_back(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("kept ")
    await ada.sees_state("saved")
    box = await ada.editor.bounding_box()
    wire.cut()
    await ada.page.keyboard.type("unsent ")
    await ada.sees_state("offline")
    await expect(ada.page.get_by_role("status")).to_contain_text("Your changes are kept here")
    await ada.page.keyboard.type("lost?")
    await ada.sees_text("kept unsent ")
    assert await ada.editor.bounding_box() == box
    wire.mend()
    # The browser's word that the network is back is heard at once, not at the next attempt.
    await ada.notices_the_network()
    await ada.sees_state("saved", within=2)
    await expect(ada.editor).to_be_focused()
    await ada.page.keyboard.type("later")
    await ada.sees_text("kept unsent later")
    await ada.sees_state("saved")
    assert await stored(server, document) == "kept unsent later\n"


async def test_a_half_dead_connection_is_noticed_within_the_heartbeat_and_nothing_arrives_twice(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada, ben = await new_person(server, "ada", proxy=wire.proxy), await new_person(server, "ben")
    frames = Frames(ada.page)
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("0 ")
    await ada.sees_state("saved")
    wire.freeze()
    frozen = time.monotonic()
    number = 0
    while await ada.state() != "offline":
        number += 1
        await ada.page.keyboard.type(f"{number} ")
        assert time.monotonic() - frozen < HEARTBEAT + 2
        assert await ada.state() != "saved"
        await asyncio.sleep(0.5)
    text = await ada.text()
    assert text.split()[:2] == ["0", "1"]
    await ben.sees_text("0 ")
    wire.thaw()
    await ada.sees_state("saved", within=20)
    await ben.sees_text(text)
    await ada.type("end")
    await ada.sees_state("saved")
    assert await stored(server, document) == text + "end\n"
    assert await ben.text() == text + "end"
    assert frames.sockets >= 2


async def test_a_server_that_stands_still_is_noticed_and_what_was_typed_is_kept_once_it_goes_on(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("before ")
    await ada.sees_state("saved")
    server.freeze()
    try:
        await ada.page.keyboard.type("meanwhile ")
        await ada.sees_state("offline", within=HEARTBEAT + 2)
    finally:
        server.thaw()
    await ada.sees_state("saved", within=20)
    assert await stored(server, document) == "before meanwhile \n"


async def test_the_browser_going_offline_and_online_again_is_noticed(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("one ")
    await ada.sees_state("saved")
    await ada.context.set_offline(True)
    await ada.page.keyboard.type("two ")
    await ada.sees_state("offline", within=HEARTBEAT)
    await ada.context.set_offline(False)
    await ada.sees_state("saved", within=3)
    await ada.type("three")
    await ada.sees_state("saved")
    assert await stored(server, document) == "one two three\n"
