"""Somebody signed in, with a browser's cookie and habits but without its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import httpx
import websockets

from chopin_web.testing.browser import Browser

SANDBOX = "local/sandbox"


@attrs.frozen
class Person:
    """Holds a session; :func:`signed_in` makes one."""

    http: httpx.AsyncClient

    async def create_document(self, title: str, repository: str = SANDBOX) -> str:
        """The id of its channel."""
        made = await self.http.post(f"/api/repositories/{repository}/channels", json={"title": title})
        assert made.status_code == 201, made.text
        return str(made.json()["channel"]["id"])

    def dial(self, channel: str, **options: Any) -> websockets.connect:
        """The document's socket, still to be connected; options are those of ``websockets.connect``."""
        origin = str(self.http.base_url).rstrip("/")
        return websockets.connect(
            f"{options.pop('address', origin).replace('http', 'ws', 1)}/ws?channel={channel}",
            origin=websockets.Origin(origin),
            additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())},
            **{"max_size": None, "compression": None, **options},
        )

    @asynccontextmanager
    async def browser(self, channel: str, **options: Any) -> AsyncIterator[Browser]:
        """The document, open in a browser that heard the greeting and took the text in."""
        async with self.dial(channel, **options) as wire:
            browser = Browser()
            await browser.attach(wire)
            yield browser


@asynccontextmanager
async def signed_in(origin: str, token: str, name: str | None = None) -> AsyncIterator[Person]:
    """Somebody on a server of the local mode, by its one-time link; without a name, its operator."""
    async with httpx.AsyncClient(base_url=origin, headers={"origin": origin}, timeout=30) as http:
        query = {"token": token} | ({"as": name} if name else {})
        answer = await http.get("/auth/local", params=query)
        assert answer.status_code == 303, answer.text
        yield Person(http)
