"""Addresses that lead nowhere, lists, search, and going back and forth."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from playwright.async_api import Error, Route, expect

from .conftest import NewPerson
from .server import PROJECT, Server


@pytest.mark.parametrize(
    ("path", "link", "leads_to"),
    [
        (f"/documents/{PROJECT}/no-such-document", f"Documents of {PROJECT}", f"/documents/{PROJECT}"),
        ("/documents/acme/no-such-project/plan", "Documents of acme/no-such-project", "/documents/acme/no-such-project"),
        ("/channels/00000000-0000-4000-8000-000000000000", "All projects", "/"),
        ("/channels/none", "All projects", "/"),
        ("/nothing/here", "All projects", "/"),
        ("/documents/%E0%A4%A", "All projects", "/"),
    ],
)
async def test_an_unknown_address_says_so_and_leads_back_and_is_not_asked_for_again(
    path: str, link: str, leads_to: str, server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    await ada.goto(path)
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("Not found")
    await expect(ada.page.get_by_role("button")).to_have_count(0)
    asked: list[str] = []
    ada.page.on("request", lambda request: asked.append(request.url))
    await asyncio.sleep(1.5)
    assert asked == []
    await ada.page.get_by_role("link", name=link).click()
    await expect(ada.page).to_have_url(server.origin + leads_to)


async def test_back_and_forward_go_between_documents_without_loading_the_page_anew(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    one, other = await ada.create_document("Going one"), await ada.create_document("Going other")
    await ada.goto(f"/documents/{PROJECT}")
    await ada.page.evaluate("window.stillHere = true")
    documents = ada.page.get_by_role("list", name="Documents")
    for document in (one, other):
        await documents.get_by_role("link", name=document.title).click()
        await ada.ready()
        await ada.type(document.title)
        await ada.sees_state("saved")
        await ada.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    await ada.page.go_back()
    await ada.ready()
    await ada.sees_text("Going other")
    await ada.page.go_back()
    await expect(documents).to_be_visible()
    await ada.page.go_back()
    await ada.ready()
    await ada.sees_text("Going one")
    await ada.page.go_forward()
    await ada.page.go_forward()
    await ada.sees_text("Going other")
    assert await ada.page.evaluate("window.stillHere")


async def test_a_late_answer_for_a_document_one_has_left_changes_nothing(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    left, wanted = await ada.create_document("Left"), await ada.create_document("Wanted")
    asked, released = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        asked.set()
        await released.wait()
        # The page has given up on it by now.
        with contextlib.suppress(Error):
            await route.continue_()

    await ada.page.route("**/documents/left", late)
    await ada.goto(f"/documents/{PROJECT}")
    documents = ada.page.get_by_role("list", name="Documents")
    await documents.get_by_role("link", name=left.title).click()
    await asked.wait()
    await ada.page.go_back()
    await documents.get_by_role("link", name=wanted.title).click()
    await ada.ready()
    released.set()
    await ada.type("Here.")
    await ada.sees_state("saved")
    await expect(ada.page).to_have_url(server.origin + wanted.path)
    await expect(ada.page).to_have_title("Wanted · Chopin")
    await ada.sees_text("Here.")


async def test_a_passing_fault_of_the_server_offers_to_try_again_and_that_works(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    refused = {"error": "Temporarily unavailable; please try again"}
    await ada.page.route("**/api/repositories/**", lambda route: route.fulfill(status=503, json=refused), times=1)
    await ada.goto(document.path)
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("This did not work just now")
    await ada.page.get_by_role("button", name="Try again").click()
    await ada.ready()


async def test_search_asks_beyond_the_first_page_and_more_can_be_loaded(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    for number in range(52):
        await ada.create_document(f"Many {number:02}")
    await ada.goto(f"/documents/{PROJECT}")
    rows = ada.page.get_by_role("list", name="Documents").get_by_role("listitem")
    await expect(rows).to_have_count(50)
    await expect(ada.page.get_by_role("link", name="Many 00")).to_have_count(0)
    field = ada.page.get_by_role("searchbox", name="Search documents")
    await field.fill("mANY 00")
    await expect(rows).to_have_count(1)
    await expect(ada.page.get_by_role("link", name="Many 00")).to_be_visible()
    await field.fill("nothing like it")
    await expect(ada.page.get_by_text("No document matches")).to_be_visible()
    await field.fill("Many")
    await expect(rows).to_have_count(50)
    await ada.page.get_by_role("button", name="Load more").click()
    await expect(rows).to_have_count(52)
    await expect(ada.page.get_by_role("link", name="Many 00")).to_be_visible()


async def test_a_list_that_cannot_be_loaded_says_so_and_can_be_retried(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    await ada.create_document("Here")
    await ada.goto("/")
    await expect(ada.page.get_by_role("link", name=PROJECT)).to_be_visible()
    await server.kill()
    await ada.page.get_by_role("link", name=PROJECT).click()
    await expect(ada.page.get_by_role("alert")).to_be_visible()
    await server.start()
    await ada.page.get_by_role("button", name="Try again").click()
    await expect(ada.page.get_by_role("link", name="Here")).to_be_visible()


async def test_a_part_of_the_program_that_cannot_be_fetched_is_told_of_and_comes_with_a_reload(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document("Far away")
    await ada.goto(f"/documents/{PROJECT}")
    await expect(ada.page.get_by_role("link", name=document.title)).to_be_visible()
    await server.kill()
    await ada.page.get_by_role("link", name=document.title).click()
    reload = ada.page.get_by_role("button", name="Reload")
    await expect(reload).to_be_visible()
    # The one fault that is wanted here.
    assert all("preload" in fault or "dynamically imported" in fault for fault in ada.faults)
    ada.faults.clear()
    await server.start()
    await reload.click()
    await ada.ready()
    await expect(ada.page).to_have_url(server.origin + document.path)
