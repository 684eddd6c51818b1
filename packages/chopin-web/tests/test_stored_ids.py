"""Every place of the shell that takes a stored id refuses what is none as it refuses one that was never stored."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route, WebSocketRoute

from chopin_web.conversation import FOR_EDITORS, FOR_VIEWERS

from shell_site import Site

NOT_FOUND: Final = (404, {"error": "Not found"})
UNKNOWN: Final = "00000000-0000-4000-8000-000000000000"

IDS: Final = {"channel"}
NO_IDS: Final = {"owner", "repository", "slug", "name", "path"}
"""Parameters of paths. A new one has to be told apart, so that nobody forgets what guards an id."""

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "session:ping": {},
    "plan:open": {"epoch": "1", "vector": ""},
    "plan:close": {},
    "plan:update": {"epoch": "1", "id": "u1", "update": "AAA="},
    "plan:awareness": {"epoch": "1", "update": "AAA="},
}
"""Every kind of frame that is acted on, with fields of which none is wrong in itself."""


def malformed(id: str) -> list[str]:
    near = [f"{id}\n", f"\n{id}", f"{id} ", f"{id}\0", id.upper(), f"{{{id}}}", id.replace("-", ""), id[:-1], id + "0"]
    return [*near, "1" * 20, "1" * 21, "١٢٣", "٤" + id[1:], "\0", "%", "x" * 4096, "é" * 600]


def routes(app: object) -> list[BaseRoute]:
    while not isinstance(app, Starlette):
        app = vars(app)["_app"]
    return app.routes


def places(app: object) -> Iterator[tuple[str, str]]:
    """Every method and path with an id in it, the latter to be formatted."""
    for route in routes(app):
        assert isinstance(route, Route | WebSocketRoute)
        names = set(re.findall(r"{(\w+)", route.path))
        assert names <= IDS | NO_IDS, f"{route.path}: does it carry a stored id?"
        if isinstance(route, Route) and names & IDS:
            assert names <= IDS
            yield from ((method, route.path) for method in sorted(route.methods or ()) if method != "HEAD")


async def test_what_is_no_id_is_answered_in_every_path_like_what_was_never_stored(site: Site) -> None:
    channel = await site.document("Notes")
    walked = list(places(site.app))
    assert len(walked) >= 2

    async with site.person("ada") as ada:

        async def asked(method: str, path: str, id: str) -> tuple[int, Any]:
            answer = await ada.request(method, path.format(channel=quote(id, safe="")), json={"title": "Changed"})
            return answer.status_code, answer.json()

        for method, path in walked:
            assert await asked(method, path, UNKNOWN) == NOT_FOUND
            for bad in malformed(channel):
                assert await asked(method, path, bad) == NOT_FOUND, (method, path, bad)
        assert (await ada.get(f"/api/channels/{channel}")).json()["channel"]["title"] == "Notes"

        await site.storage.close()
        for method, path in walked:
            assert (await asked(method, path, UNKNOWN))[0] == 503  # storage was asked
            for bad in malformed(channel):
                assert await asked(method, path, bad) == NOT_FOUND, (method, path, bad)


async def test_what_is_no_id_opens_no_socket_and_storage_is_not_asked(site: Site) -> None:
    channel = await site.document()
    assert await site.refused("ada", UNKNOWN) == 404
    await site.storage.close()

    async with site.person("ada", **{"x-chopin-socket-probe": "1"}) as ada:
        for id, status in [(UNKNOWN, 503), *((bad, 404) for bad in ["", *malformed(channel)])]:
            assert await site.refused("ada", quote(id, safe="")) == status, id
            assert (await ada.get(f"/ws?channel={quote(id, safe='')}")).status_code == status, id


async def test_a_cursor_with_what_is_no_id_belongs_to_no_search(site: Site) -> None:
    channel = await site.document()
    cursor = {"v": 3, "updatedAt": "2026-01-05T09:30:00+00:00", "id": channel, "query": "", "includeArchived": False}

    async with site.person("ada") as ada:
        for id, status in [(channel, 200), *((bad, 400) for bad in ["", None, 7, [channel], *malformed(channel)])]:
            text = base64.urlsafe_b64encode(json.dumps({**cursor, "id": id}).encode()).decode().rstrip("=")
            answer = await ada.get("/api/repositories/ada/engine/channels", params={"cursor": text})
            assert answer.status_code == status, id


@pytest.mark.parametrize("kind", FIELDS)
async def test_no_field_of_a_frame_is_worse_for_what_is_no_id(site: Site, kind: str) -> None:
    channel = await site.document()

    for field in FIELDS[kind]:
        for bad in malformed(channel):
            async with site.browser("ada", channel) as browser:
                await browser.send(kind, **{**FIELDS[kind], field: bad})
                ping = await browser.send("session:ping")
                assert (await browser.next("session:ping"))["rid"] == ping
    assert site.fatal == []


def test_every_kind_of_frame_is_walked() -> None:
    assert {*FOR_VIEWERS, *FOR_EDITORS} == set(FIELDS)
