"""Edits that could not be sent yet, and a person who leaves, closes the tab, or is signed out meanwhile."""

from __future__ import annotations

from playwright.async_api import expect

from .agent import stored
from .conftest import NewPerson
from .server import PROJECT, Server
from .waiting import eventually
from .wire import Wire


async def test_they_are_sent_even_after_the_page_of_the_document_was_left(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    document = await ada.create_document()
    await ada.open(document)
    wire.cut()
    await ada.type("typed without a network")
    await ada.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(PROJECT)
    assert await stored(server, document) == ""
    wire.mend()
    await eventually(lambda: stored(server, document), "typed without a network\n", within=15)
    await ada.page.go_back()
    await ada.sees_text("typed without a network")
    await ada.sees_state("saved")


async def test_closing_the_tab_asks_first_while_there_are_any_and_not_otherwise(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    document = await ada.create_document()
    await ada.open(document)
    wire.cut()
    await ada.type("not sent")
    async with ada.page.expect_event("dialog") as asked:
        await ada.page.close(run_before_unload=True)
    question = await asked.value
    assert question.type == "beforeunload"
    await question.dismiss()
    wire.mend()
    await ada.notices_the_network()
    await ada.sees_state("saved")
    # A question now would be answered by staying, and this would wait in vain.
    async with ada.page.expect_event("close"):
        await ada.page.close(run_before_unload=True)
    assert await stored(server, document) == "not sent\n"


async def test_somebody_signed_out_meanwhile_keeps_them_and_sends_them_after_signing_in_elsewhere(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", proxy=wire.proxy)
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("kept ")
    await ada.sees_state("saved")
    wire.cut()
    await ada.page.keyboard.type("unsent")
    await ada.context.clear_cookies()
    wire.mend()
    await ada.notices_the_network()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("You are signed out")
    notice = ada.page.get_by_role("alert")
    await expect(notice).to_contain_text("not saved yet")
    await notice.get_by_role("button", name="Copy my text").click()
    assert await ada.page.evaluate("navigator.clipboard.readText()") == "kept unsent"
    other_tab = await ada.context.new_page()
    await other_tab.goto(f"{server.link}&as=ada")
    await ada.page.get_by_role("button", name="Try again").click()
    await ada.ready()
    await ada.sees_text("kept unsent")
    assert await stored(server, document) == "kept unsent\n"


async def test_they_survive_a_rename_of_the_document_by_somebody_else(
    server: Server, wire: Wire, new_person: NewPerson
) -> None:
    ada, ben = await new_person(server, "ada", proxy=wire.proxy), await new_person(server, "ben")
    document = await ada.create_document("Called one thing")
    await ada.open(document)
    await ben.open(document)
    wire.cut()
    await ada.type("written under the old name")
    await ben.page.get_by_role("button", name="rename document").click()
    await ben.page.keyboard.type("Called another")
    await ben.page.keyboard.press("Enter")
    await expect(ben.page).to_have_url(f"{server.origin}/documents/{PROJECT}/called-another")
    wire.mend()
    await ada.notices_the_network()
    await ada.sees_state("saved")
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("Called another")
    await expect(ada.page).to_have_url(f"{server.origin}/documents/{PROJECT}/called-another")
    await ben.sees_text("written under the old name")
