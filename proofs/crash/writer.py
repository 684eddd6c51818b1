"""Somebody who writes in one document without waiting for anybody, through every socket that breaks."""

from __future__ import annotations

import asyncio
import contextlib
import json
from random import Random
from typing import Any

import attrs
import websockets

from chopin_core.document.splice import Splice
from chopin_web.testing.browser import Browser
from chopin_web.testing.person import Person

from .history import History
from .markers import gap, marker

BROKEN = (OSError, websockets.WebSocketException)
"""What comes of talking to a server that is dead, dying or not yet there."""

OUTSTANDING = 40
"""More than a group holds, and fewer than a second allows when they are all sent again at once."""

SECONDS = 30.0


@attrs.define(eq=False)
class Writer:
    name: str
    document: str
    history: History
    random: Random
    browser: Browser = attrs.field(factory=Browser)
    _number: int = 0
    _mine: list[str] = attrs.field(factory=list)
    """Markers of mine that nobody took out."""
    _listening: asyncio.Task[int | None] | None = None
    _moved: asyncio.Event = attrs.field(factory=asyncio.Event)
    _pong: str | None = None

    # The socket

    async def connect(self, person: Person) -> None:
        """
        Open the document, or go on in it.

        Raises:
            one of :data:`BROKEN`: the server went away meanwhile.
        """
        # Without pings of its own: a server that stands still keeps its sockets, and must be the one to close them.
        wire = await person.dial(self.document, ping_interval=None)
        await self.browser.attach(wire)
        self.browser.frames.clear()
        if self.browser.dropped:
            self.history.complaints.append(f"{self.name} found the document under another epoch")
        self._listening = asyncio.create_task(self.browser.listen(self._hear))
        self._listening.add_done_callback(lambda _: self._moved.set())

    async def gone(self) -> None:
        """Wait until the socket is closed and everything that came through it was taken in."""
        if self._listening is not None:
            await asyncio.wait_for(self._listening, SECONDS)

    async def leave(self) -> None:
        if self.browser.wire is not None:
            await self.browser.wire.close()
        await self.gone()

    async def left_behind(self) -> websockets.ClientConnection:
        """Turn away from the socket without closing it; it is returned, unread from here on."""
        assert self._listening is not None and self.browser.wire is not None
        self._listening.cancel()
        await asyncio.wait({self._listening})
        self._listening = None
        return self.browser.wire

    async def overhear(self, wire: websockets.ClientConnection) -> dict[str, int]:
        """What a socket left behind still acknowledges until the server closes it; the sequences by id."""
        acknowledged = {}
        with contextlib.suppress(websockets.ConnectionClosed):
            async with asyncio.timeout(SECONDS):
                while True:
                    frame = json.loads(await wire.recv())
                    if frame["kind"] == "plan:ack":
                        acknowledged[frame["id"]] = frame["seq"]
        return acknowledged

    # Writing

    async def type(self, stop: asyncio.Event) -> None:
        """Write until told to stop, or until the socket breaks."""
        with contextlib.suppress(*BROKEN):
            while not stop.is_set():
                if len(self.browser.unacknowledged) < OUTSTANDING:
                    for _ in range(self.random.choice((1, 1, 1, 1, 5))):
                        await self.write()
                await asyncio.sleep(self.random.uniform(0.002, 0.02))

    async def write(self) -> None:
        """Send one update of one to three changes, which are there together or not at all."""
        self._number += 1
        id = f"{self.name}-{self._number}"
        removed = self._taken_out() if self.random.random() < 0.3 else []
        markers = [marker(id, part, self.random) for part in range(self.random.choice((1, 1, 2)))]
        text, splices = self.browser.replica.text, []
        for gone in removed:
            at = text.index(gone)
            splices.append(Splice(at, at + len(gone), ""))
            text = text[:at] + text[at + len(gone) :]
        for added in markers:
            at = gap(text, self.random)
            splices.append(Splice(at, at, added))
            text = text[:at] + added + text[at:]
        self._mine += markers
        self.history.sending(id, writer=self.name, document=self.document, markers=markers, removed=removed)
        await self.browser.submit(self.browser.replica.splice(splices), id=id)

    def _taken_out(self) -> list[str]:
        return [self._mine.pop(self.random.randrange(len(self._mine)))] if self._mine else []

    # Listening

    async def settled(self) -> None:
        """Wait until everything is acknowledged, and then until everything that was on its way here has arrived."""
        async with asyncio.timeout(SECONDS):
            while self.browser.unacknowledged:
                await self._news()

    async def level(self) -> None:
        """Wait until all that the server has for this socket has been taken in."""
        async with asyncio.timeout(SECONDS):
            rid = await self.browser.send("session:ping")
            while self._pong != rid:
                await self._news()

    async def _news(self) -> None:
        """
        Raises:
            ConnectionError: there will be none.
        """
        if self._listening is None or self._listening.done():
            raise ConnectionError(f"{self.name} lost the socket")
        self._moved.clear()
        await self._moved.wait()

    def _hear(self, frame: dict[str, Any]) -> None:
        self.browser.frames.clear()
        match frame["kind"]:
            case "plan:ack":
                self.history.told(frame["id"], frame["seq"])
            case "session:ping":
                self._pong = frame["rid"]
            case "plan:reset" | "session:error":
                self.history.complaints.append(f"{self.name} was told {frame}")
        self._moved.set()
