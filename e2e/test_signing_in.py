"""From the printed link to a document, and what happens without the link or from elsewhere."""

from __future__ import annotations

import httpx2
import pytest
from playwright.async_api import expect
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from .conftest import NewPerson
from .server import PROJECT, Server


async def test_the_printed_link_leads_to_the_checkout_and_a_new_document_to_an_editor(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    await expect(ada.page).to_have_url(f"{server.origin}/")
    await ada.page.get_by_role("list", name="Projects").get_by_role("link", name=PROJECT).click()
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text(PROJECT)
    await expect(ada.page.get_by_text("No documents yet.")).to_be_visible()
    await ada.page.get_by_role("button", name="New document").click()
    await ada.ready()
    # Somebody who has just made a document can write at once, without reaching for the mouse.
    await expect(ada.editor).to_be_focused()
    await ada.page.keyboard.type("First words")
    await ada.sees_text("First words")
    await ada.sees_state("saved")
    await ada.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    await expect(ada.page.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(1)
    assert await ada.page.evaluate("document.cookie") == ""


async def test_the_operator_has_a_name_without_choosing_one(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    await ada.page.goto(server.link)
    await expect(ada.page.locator(".page__person")).not_to_have_text("ada")
    await expect(ada.page.locator(".page__person")).not_to_be_empty()


async def test_signed_out_one_is_told_where_the_link_is_and_lands_on_the_page_one_wanted(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.context.clear_cookies()
    await ada.goto(document.path)
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("You are signed out")
    await expect(ada.page.get_by_text("printed in the terminal")).to_be_visible()
    other_tab = await ada.context.new_page()
    await other_tab.goto(server.link)
    await ada.page.get_by_role("button", name="Try again").click()
    await ada.ready()


async def test_a_link_with_a_wrong_token_signs_nobody_in(server: Server) -> None:
    async with httpx2.AsyncClient(base_url=server.origin) as http:
        refused = await http.get("/auth/local", params={"token": "guess"})
        assert refused.status_code == 401
        assert "set-cookie" not in refused.headers
        assert (await http.get("/api/repositories")).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1"])
async def test_a_request_under_another_name_is_refused_even_with_the_token(host: str, server: Server) -> None:
    async with httpx2.AsyncClient(base_url=server.origin, headers={"host": host}) as http:
        for answer in [await http.get(server.link), await http.get("/"), await http.get("/health")]:
            assert answer.status_code == 403
            assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None])
async def test_another_site_can_neither_write_nor_listen_for_somebody_who_is_signed_in(
    origin: str | None, server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    cookie = "; ".join(f"{kept.get('name')}={kept.get('value')}" for kept in await ada.context.cookies())
    headers = {"cookie": cookie, **({} if origin is None else {"origin": origin})}
    async with httpx2.AsyncClient(base_url=server.origin, headers=headers) as http:
        assert (await http.get(f"/api/channels/{document.id}")).status_code == 200
        assert (await http.post(f"/api/repositories/{PROJECT}/channels", json={})).status_code == 403
        assert (await http.patch(f"/api/channels/{document.id}", json={"title": "Theirs"})).status_code == 403
        assert (await http.post("/auth/logout")).status_code == 403
    socket = f"{server.origin.replace('http', 'ws', 1)}/ws?channel={document.id}"
    with pytest.raises(InvalidStatus) as refused:
        await connect(socket, additional_headers=headers, proxy=None)
    assert refused.value.response.status_code == 403
