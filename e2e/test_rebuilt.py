"""A document that was rebuilt while somebody was away: nothing of the former history is merged into the new one."""

from __future__ import annotations

from playwright.async_api import expect

from .agent import stored
from .conftest import NewPerson
from .people import Document
from .rebuilding import rebuild
from .server import Server
from .wire import Wire


async def _rebuilt(server: Server, document: Document) -> None:
    await server.stop()
    await rebuild(server, document.id)
    await server.start()


async def test_unsent_edits_are_dropped_told_of_and_offered_as_text(server: Server, wire: Wire, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("kept ")
    await ada.sees_state("saved")
    wire.cut()
    await ada.page.keyboard.type("unsent")
    await ada.sees_text("kept unsent")
    await _rebuilt(server, document)
    wire.mend()
    notice = ada.page.get_by_role("alert")
    await expect(notice).to_contain_text("Unsent edits were dropped", timeout=20_000)
    await ada.sees_text("kept ")
    await notice.get_by_role("button", name="Copy my text").click()
    await expect(notice.get_by_role("button", name="Copied")).to_be_visible()
    assert await ada.page.evaluate("navigator.clipboard.readText()") == "kept unsent"
    await notice.get_by_role("button", name="Show it").click()
    await expect(ada.page.get_by_role("dialog").get_by_role("textbox")).to_have_value("kept unsent")
    await ada.page.keyboard.press("Escape")
    await notice.get_by_role("button", name="Dismiss").click()
    await expect(notice).to_have_count(0)
    await ada.type("later")
    await ada.sees_state("saved")
    await ada.sees_text("kept later")
    assert await stored(server, document) == "kept later\n"


async def test_somebody_with_nothing_unsent_goes_on_without_a_word_and_the_text_stands_there_once(
    server: Server, new_person: NewPerson
) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("the whole text")
    await ada.sees_state("saved")
    await ben.sees_text("the whole text")
    await _rebuilt(server, document)
    for person in (ada, ben):
        await person.sees_state("saved", within=20)
        await person.sees_text("the whole text")
        await expect(person.page.get_by_role("alert")).to_have_count(0)
    await ada.type(", later")
    await ben.sees_text("the whole text, later")
    await ben.type(" and last")
    await ada.sees_text("the whole text, later and last")
    await ada.page.keyboard.press("Control+z")
    await ada.sees_text("the whole text and last")
    # What was typed before belongs to a history that is gone.
    await ada.page.keyboard.press("Control+z")
    await ada.sees_state("saved")
    assert await stored(server, document) == "the whole text and last\n"
