"""The HTTP routes of channels: what they answer, and what they refuse in which order."""

from __future__ import annotations

import base64
import json

import pytest

from shell_site import Site

UNKNOWN = "00000000-0000-4000-8000-000000000000"
CHANNELS = "/api/repositories/ada/engine/channels"


async def test_a_document_is_created_under_two_words_when_nobody_names_it(site: Site) -> None:
    async with site.person("ada") as ada:
        made = await ada.post(CHANNELS)
        assert made.status_code == 201
        channel = made.json()["channel"]
        assert channel["title"].count("-") == 1
        assert made.headers["location"] == f"/documents/ada/engine/{channel['slug']}"
        assert (channel["revision"], channel["unansweredDecisions"], channel["descriptionRevision"]) == (0, 0, 0)
        found = await ada.get(f"/api/repositories/ada/engine/documents/{channel['slug']}")
        assert found.json() == made.json()


async def test_a_title_is_trimmed_and_its_address_made_readable(site: Site) -> None:
    async with site.person("ben") as ben:
        made = await ben.post(CHANNELS, json={"title": "  Über Ärger & Öl!  "})
        assert made.json()["channel"]["title"] == "Über Ärger & Öl!"
        assert made.json()["channel"]["slug"] == "über-ärger-öl"
        assert made.headers["location"] == "/documents/ada/engine/%C3%BCber-%C3%A4rger-%C3%B6l"
        # What somebody types is turned into an address the same way.
        assert (await ben.get("/api/repositories/ada/engine/documents/Über Ärger Öl")).status_code == 200


@pytest.mark.parametrize("title", ["", "   ", "x" * 121, "a\nb", "a\0b", "\ud800", 7, None, ["a"], "\u2028"], ids=ascii)
async def test_a_title_out_of_bounds_is_refused_and_changes_nothing(site: Site, title: object) -> None:
    channel = await site.document("Before")
    async with site.person("ada") as ada:
        body = json.dumps({"title": title})
        assert (await ada.patch(f"/api/channels/{channel}", content=body)).status_code == 400
        if title is not None:
            assert (await ada.post(CHANNELS, content=body)).status_code == 400
        listed = (await ada.get(CHANNELS)).json()["channels"]
        assert [document["title"] for document in listed] == ["Before"]


async def test_titles_are_unique_whatever_their_case(site: Site) -> None:
    channel = await site.document("Notes")
    other = await site.document("Other")
    async with site.person("ada") as ada:
        assert (await ada.post(CHANNELS, json={"title": "NOTES"})).status_code == 409
        assert (await ada.patch(f"/api/channels/{other}", json={"title": "notes"})).status_code == 409
        assert (await ada.patch(f"/api/channels/{channel}", json={"title": "NOTES"})).status_code == 200


async def test_a_rename_keeps_the_old_address_and_never_gives_it_away(site: Site) -> None:
    channel = await site.document("First")
    async with site.person("ada") as ada:
        await ada.patch(f"/api/channels/{channel}", json={"title": "Second"})
        again = await ada.post(CHANNELS, json={"title": "First"})
        assert again.json()["channel"]["slug"] == "first-2"
        assert (await ada.get("/api/repositories/ada/engine/documents/first")).json()["channel"]["id"] == channel
        back = await ada.patch(f"/api/channels/{channel}", json={"title": "first!"})
        assert back.json()["channel"]["slug"] == "first"


@pytest.mark.parametrize("path", [CHANNELS, f"/api/channels/{UNKNOWN}"])
async def test_a_change_without_our_origin_is_refused_before_anybody_is_asked_who_they_are(site: Site, path: str) -> None:
    method = "POST" if path == CHANNELS else "PATCH"
    for origin in ("http://evil.example", "null", site.origin + "/", site.origin.upper()):
        async with site.person(None) as nobody:
            nobody.headers["origin"] = origin
            assert (await nobody.request(method, path, json={"title": "x"})).status_code == 403
    async with site.person(None) as nobody:
        del nobody.headers["origin"]
        assert (await nobody.request(method, path, json={"title": "x"})).status_code == 403


async def test_nobody_is_told_what_exists(site: Site) -> None:
    channel = await site.document()
    answers = []
    async with site.person("eve") as eve:
        for path in (
            f"/api/channels/{channel}",
            f"/api/channels/{UNKNOWN}",
            "/api/channels/nonsense",
            f"/api/channels/{UNKNOWN}%0a",
            CHANNELS,
            "/api/repositories/no/such/channels",
            "/api/repositories/ada/engine/documents/notes",
            "/api/nowhere",
        ):
            answer = await eve.get(path)
            answers.append((answer.status_code, answer.json()))
        renamed = await eve.patch(f"/api/channels/{channel}", json={"title": "mine"})
        answers.append((renamed.status_code, renamed.json()))
    assert set(map(str, answers)) == {"(404, {'error': 'Not found'})"}


async def test_who_is_not_signed_in_gets_401_everywhere(site: Site) -> None:
    channel = await site.document()
    async with site.person(None) as nobody:
        for path in ("/api/session", "/api/repositories", CHANNELS, f"/api/channels/{channel}"):
            answer = await nobody.get(path)
            assert (answer.status_code, answer.json()) == (401, {"error": "Please sign in"})


async def test_a_reader_may_list_and_open_but_not_change(site: Site) -> None:
    channel = await site.document()
    async with site.person("rita") as rita:
        listed = (await rita.get(CHANNELS)).json()
        assert (listed["canEdit"], len(listed["channels"])) == (False, 1)
        opened = (await rita.get(f"/api/channels/{channel}")).json()
        assert (opened["canEdit"], opened["canManage"]) == (False, False)
        assert (await rita.post(CHANNELS, json={"title": "x"})).status_code == 403
        assert (await rita.patch(f"/api/channels/{channel}", json={"title": "x"})).status_code == 403


async def test_pages_show_every_document_once_the_latest_first(site: Site) -> None:
    for number in range(7):
        await site.document(f"Document {number}")
    seen: list[str] = []
    async with site.person("ada") as ada:
        cursor = None
        while True:
            params = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
            page = (await ada.get(CHANNELS, params=params)).json()
            seen += [channel["title"] for channel in page["channels"]]
            if (cursor := page.get("nextCursor")) is None:
                break
    assert seen == [f"Document {number}" for number in reversed(range(7))]


async def test_a_search_is_literal_and_ignores_case(site: Site) -> None:
    for title in ("100% sure", "100 percent", "snake_case", "snakeXcase", "back\\slash"):
        await site.document(title)
    async with site.person("ada") as ada:
        for query, found in (("0%", ["100% sure"]), ("E_C", ["snake_case"]), ("K\\S", ["back\\slash"]), ("zzz", [])):
            page = (await ada.get(CHANNELS, params={"query": query})).json()
            assert [channel["title"] for channel in page["channels"]] == found


async def test_a_cursor_fits_only_the_search_it_came_from(site: Site) -> None:
    for number in range(3):
        await site.document(f"Document {number}")
    async with site.person("ada") as ada:
        cursor = (await ada.get(CHANNELS, params={"limit": "1", "query": "doc"})).json()["nextCursor"]
        same = await ada.get(CHANNELS, params={"limit": "1", "query": " DOC ", "cursor": cursor})
        assert same.status_code == 200
        for other in ({"query": "document"}, {}, {"query": "doc", "includeArchived": "true"}):
            assert (await ada.get(CHANNELS, params={"cursor": cursor, **other})).status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=٣",
        "limit=1&limit=1",
        "query=" + "x" * 121,
        "query=%00",
        "includeArchived=yes",
        "unknown=1",
        "cursor=",
        "cursor=nonsense",
        "cursor=" + base64.urlsafe_b64encode(b'{"v":3}').decode(),
        "cursor=" + base64.urlsafe_b64encode(b"[" * 20_000).decode(),
        "cursor=" + base64.urlsafe_b64encode(b'[3,"query"]').decode(),
    ],
)
async def test_a_query_string_out_of_bounds_is_400_with_a_sentence(site: Site, query: str) -> None:
    async with site.person("ada") as ada:
        answer = await ada.get(f"{CHANNELS}?{query}")
        assert answer.status_code == 400
        assert len(answer.json()["error"]) > 10


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b'"x"', 400), (b'{"title":"a","more":1}', 400), (b"x" * 5000, 413), (b"\xff", 400)],
)
async def test_a_body_that_is_none_is_refused(site: Site, body: bytes, status: int) -> None:
    async with site.person("ada") as ada:
        answer = await ada.post(CHANNELS, content=body)
        assert answer.status_code == status
        assert "error" in answer.json()
        assert (await ada.get(CHANNELS)).json()["channels"] == []


async def test_an_outage_is_503_without_a_word_about_its_inside(site: Site) -> None:
    await site.storage.close()
    async with site.person("ada") as ada:
        answer = await ada.get(CHANNELS)
        assert (answer.status_code, answer.json()) == (503, {"error": "Temporarily unavailable; please try again"})
