"""One person writing: what is typed is kept, and the bar says "saved" neither too early nor never."""

from __future__ import annotations

import asyncio

from playwright.async_api import expect

from .agent import stored
from .conftest import NewPerson
from .frames import Frames
from .server import Server
from .waiting import eventually
from .wire import Wire


async def test_it_is_called_saved_only_once_the_server_has_acknowledged_it(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    frames = Frames(ada.page)
    document = await ada.create_document()
    await ada.open(document)
    wire.freeze(up=False)
    await ada.editor.focus()
    await ada.page.keyboard.insert_text("Kept, but nobody says so")
    await ada.sees_state("saving")
    # The server has all of it; only its word is missing.
    await eventually(lambda: stored(server, document), "Kept, but nobody says so\n")
    for _ in range(20):
        assert await ada.state() == "saving"
        await asyncio.sleep(0.1)
    assert frames.acknowledged == set()
    wire.thaw()
    await ada.sees_state("saved")
    assert frames.acknowledged_text() == "Kept, but nobody says so"


async def test_what_was_typed_is_there_after_a_reload_and_for_whoever_comes_later(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    text = "# Späte Straße\n\nΑβγ 你好 👩‍🚀 e\u0301 **bold** <Card> {x}\n\ttab"
    # Line by line, since the editor would continue indentation by itself.
    for number, line in enumerate(text.split("\n")):
        if number:
            await ada.page.keyboard.press("Enter")
        await ada.page.keyboard.insert_text(line)
    await ada.sees_text(text)
    await ada.sees_state("saved")
    await ada.page.reload()
    await ada.ready()
    await ada.sees_text(text)
    ben = await new_person(server, "ben")
    await ben.open(document)
    await ben.sees_text(text)


async def test_leaving_the_page_in_the_middle_of_a_word_loses_nothing(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("the last letter")
    await ada.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    await expect(ada.page.get_by_role("list", name="Documents")).to_be_visible()
    await ada.page.go_back()
    await ada.ready()
    await ada.sees_text("the last letter")
    await ada.type("!")
    await ada.sees_state("saved")
    assert await stored(server, document) == "the last letter!\n"


async def test_undo_takes_back_what_was_typed_here_and_nothing_of_others(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("Ada. ")
    await ben.sees_text("Ada. ")
    await ben.type("Ben. ")
    await ada.sees_text("Ada. Ben. ")
    await ada.page.keyboard.press("Control+z")
    await ada.sees_text("Ben. ")
    await ben.sees_text("Ben. ")
    await ada.page.keyboard.press("Control+Shift+Z")
    await ben.sees_text("Ada. Ben. ")
    await ben.page.keyboard.press("Control+z")
    await ada.sees_text("Ada. ")


async def test_pasting_brings_plain_text_without_what_a_document_cannot_hold(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.editor.focus()
    await ada.page.evaluate("navigator.clipboard.writeText('one\\r\\ntwo\\u0007 three\\rfour')")
    await ada.page.keyboard.press("Control+v")
    await ada.sees_text("one\ntwo three\nfour")
    await ada.sees_state("saved")
    assert await stored(server, document) == "one\ntwo three\nfour\n"


async def test_what_would_be_too_large_is_refused_with_a_reason_and_the_rest_stays(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("Small. ")
    await ada.page.evaluate("navigator.clipboard.writeText('0123456789'.repeat(30_000))")
    await ada.page.keyboard.press("Control+v")
    await expect(ada.page.get_by_role("alert")).to_contain_text("256 KiB")
    await ada.page.get_by_role("alert").get_by_role("button", name="Dismiss").click()
    await expect(ada.page.get_by_role("alert")).to_have_count(0)
    await expect(ada.editor).to_be_focused()
    await ada.page.keyboard.type("Still works.")
    await ada.sees_state("saved")
    assert await stored(server, document) == "Small. Still works.\n"


async def test_a_document_just_below_the_limit_can_be_pasted_saved_and_opened(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.editor.focus()
    await ada.page.evaluate("navigator.clipboard.writeText('A line of text that is 40 bytes long....\\n'.repeat(6_300))")
    await ada.page.keyboard.press("Control+v")
    await ada.sees_state("saving")
    await ada.sees_state("saved")
    await ada.type("The end.")
    await ada.sees_state("saved")
    assert await stored(server, document) == "A line of text that is 40 bytes long....\n" * 6_300 + "The end.\n"
    await ada.page.reload()
    await ada.ready()
    await ada.editor.focus()
    await ada.page.keyboard.press("Control+End")
    await expect(ada.page.get_by_text("The end.")).to_be_visible()
