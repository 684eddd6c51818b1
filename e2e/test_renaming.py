"""A document's title and address: changed from its header, seen by everybody, and no old link broken."""

from __future__ import annotations

import asyncio

from playwright.async_api import Locator, Route, expect

from .conftest import NewPerson
from .people import Person
from .server import PROJECT, Server


def _opener(person: Person) -> Locator:
    return person.page.get_by_role("button", name="rename document")


def _field(person: Person) -> Locator:
    return person.page.get_by_role("textbox", name="Document title")


async def test_escape_leaves_everything_as_it_was_and_gives_the_focus_back(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document("Escaping")
    await ada.open(document)
    await _opener(ada).click()
    await expect(_field(ada)).to_be_focused()
    await expect(_field(ada)).to_have_value("Escaping")
    await ada.page.keyboard.type("Something else")
    await ada.page.keyboard.press("Escape")
    await expect(_opener(ada)).to_be_focused()
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("Escaping")
    await ada.page.reload()
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("Escaping")


async def test_enter_renames_for_everybody_and_the_address_follows(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document("First name")
    await ada.open(document)
    await ben.goto(f"{document.path}?from=mail#part-2")
    await ben.ready()
    await _opener(ada).click()
    await ada.page.keyboard.type("Zweiter Name, größer")
    await ada.page.keyboard.press("Enter")
    for person in (ada, ben):
        await expect(person.page.get_by_role("heading", level=1)).to_contain_text("Zweiter Name, größer")
        await expect(person.page).to_have_title("Zweiter Name, größer · Chopin")
    await expect(_opener(ada)).to_be_focused()
    path = f"{server.origin}/documents/{PROJECT}/zweiter-name-gr%C3%B6%C3%9Fer"
    await expect(ada.page).to_have_url(path)
    await expect(ben.page).to_have_url(f"{path}?from=mail#part-2")
    await ben.page.reload()
    await ben.ready()
    await expect(ben.page.get_by_role("heading", level=1)).to_contain_text("Zweiter Name, größer")


async def test_former_addresses_open_the_document_and_are_replaced_keeping_query_and_fragment(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document("Old one")
    await ada.open(document)
    await _opener(ada).click()
    await ada.page.keyboard.type("New one")
    await ada.page.keyboard.press("Enter")
    new = f"{server.origin}/documents/{PROJECT}/new-one"
    await expect(ada.page).to_have_url(new)
    await ada.goto(f"{document.path}?a=1#b")
    await ada.ready()
    await expect(ada.page).to_have_url(f"{new}?a=1#b")
    await ada.goto(f"/channels/{document.id}?a=1#b")
    await ada.ready()
    await expect(ada.page).to_have_url(f"{new}?a=1#b")
    await ada.page.go_back()
    await ada.ready()
    await ada.goto(f"/repositories/{PROJECT}")
    await expect(ada.page.get_by_role("list", name="Documents")).to_be_visible()


async def test_a_title_that_is_taken_is_refused_and_the_draft_kept(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    await ada.create_document("Taken")
    document = await ada.create_document("Free")
    await ada.open(document)
    await _opener(ada).click()
    await ada.page.keyboard.type("tAKEN")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("alert")).to_be_visible()
    await expect(ada.page.get_by_role("alert")).not_to_be_empty()
    await expect(_field(ada)).to_have_value("tAKEN")
    await expect(_field(ada)).to_be_focused()
    await ada.page.keyboard.type(" not")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("tAKEN not")
    await expect(ada.page).to_have_url(f"{server.origin}/documents/{PROJECT}/taken-not")


async def test_a_late_answer_to_a_rename_does_not_replace_a_newer_title(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document("Contested")
    await ada.open(document)
    await ben.open(document)
    answered, released = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        answer = await route.fetch()
        answered.set()
        await released.wait()
        await route.fulfill(response=answer)

    await ada.page.route(f"**/api/channels/{document.id}", late)
    await _opener(ada).click()
    await ada.page.keyboard.type("By Ada")
    await ada.page.keyboard.press("Enter")
    await answered.wait()
    await expect(ben.page.get_by_role("heading", level=1)).to_contain_text("By Ada")
    await _opener(ben).click()
    await ben.page.keyboard.type("By Ben")
    await ben.page.keyboard.press("Enter")
    await expect(ada.page).to_have_title("By Ben · Chopin")
    released.set()
    for person in (ada, ben):
        await expect(person.page.get_by_role("heading", level=1)).to_contain_text("By Ben")
        await expect(person.page).to_have_url(f"{server.origin}/documents/{PROJECT}/by-ben")


async def test_a_rename_while_the_server_is_away_keeps_the_draft_and_can_be_repeated(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document("Before")
    await ada.open(document)
    await _opener(ada).click()
    await ada.page.keyboard.type("After")
    await server.kill()
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("form", name="Rename document").get_by_role("alert")).to_be_visible()
    await expect(_field(ada)).to_have_value("After")
    await server.start()
    await ada.sees_state("saved", within=20)
    await _field(ada).press("Enter")
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("After")
