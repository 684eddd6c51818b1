"""
What one browser knows of a document: a replica, what of it was not acknowledged yet, and a socket that may be replaced.

It keeps the promises that our own client keeps: what was not acknowledged is sent again on the next socket, and a history of
another epoch is never merged.
"""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import attrs
import websockets

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ports.documents import SharedText
from chopin_web.testing.patience import patience

SECONDS = 10.0
"""How long an answer is waited for."""


@attrs.define(eq=False)
class Browser:
    """
    Frames are taken in by whoever waits for one (:meth:`next`, :meth:`settled`), or by :meth:`listen` in a task of its own;
    not by both at once.
    """

    wire: websockets.ClientConnection | None = None
    replica: SharedText = attrs.field(factory=lambda: PycrdtEngine().new())
    epoch: str = ""
    frames: list[dict[str, Any]] = attrs.field(factory=list)
    """All that arrived, on whichever socket."""
    unacknowledged: dict[str, bytes] = attrs.field(factory=dict)
    """By id, in the order they were made."""
    acknowledged: list[str] = attrs.field(factory=list)
    dropped: dict[str, bytes] = attrs.field(factory=dict)
    """Was unacknowledged at a reset, or when the document came back under another epoch; a person is offered it as text."""
    _numbers: itertools.count[int] = attrs.field(factory=itertools.count)

    # A socket

    async def attach(self, wire: websockets.ClientConnection) -> None:
        """Go on over a new socket: hear the greeting, take in what is missing, and send again what was not acknowledged."""
        self.wire = wire
        await self.next("session:hello")
        await self.open()

    async def open(self) -> dict[str, Any]:
        """Take in the document as it is, or what the replica lacks of it; the reply."""
        known = {"epoch": self.epoch, "vector": _encoded(self.replica.state_vector())} if self.epoch else {}
        rid = await self.send("plan:open", **known)
        reply = await self.next("plan:open", rid=rid)
        update = base64.b64decode(reply["update"])
        if reply["epoch"] == self.epoch:
            self.replica.apply(update)
        else:
            self._start_over()
            self.replica, self.epoch = PycrdtEngine().load([update]), reply["epoch"]
        for id, waiting in self.unacknowledged.items():
            await self.send("plan:update", epoch=self.epoch, id=id, update=_encoded(waiting))
        return reply

    async def send(self, kind: str, **fields: Any) -> str:
        rid = f"r{next(self._numbers)}"
        await self.send_anything(json.dumps({"kind": kind, "ts": 0, "rid": rid, **fields}))
        return rid

    async def send_anything(self, message: str | bytes) -> None:
        """One WebSocket message, whatever it is."""
        assert self.wire is not None, "no socket is attached"
        await self.wire.send(message)

    # Writing

    async def type_in(self, text: str, at: int = 0) -> str:
        """Insert a text and send it; the request id."""
        return await self.submit(self.replica.splice([Splice(at, at, text)]))

    async def submit(self, update: bytes | str, **fields: Any) -> str:
        """Send an update; bytes count as unacknowledged from now on, a text (of whatever) does not. The request id."""
        id = fields.pop("id", None) or f"u{next(self._numbers)}"
        if isinstance(update, bytes):
            self.unacknowledged[id] = update
            update = _encoded(update)
        return await self.send("plan:update", **{"epoch": self.epoch, "id": id, "update": update, **fields})

    # Reading

    async def next(self, kind: str, **expected: Any) -> dict[str, Any]:
        """The next frame of that kind with these fields; others are taken in on the way."""
        async with patience(SECONDS):
            while True:
                frame = await self._receive()
                if frame["kind"] == kind and all(frame.get(name) == value for name, value in expected.items()):
                    return frame

    async def settled(self) -> None:
        """Take frames in until everything that was sent is acknowledged."""
        async with patience(SECONDS):
            while self.unacknowledged:
                await self._receive()

    async def listen(self, told: Callable[[dict[str, Any]], None] | None = None) -> int | None:
        """Take frames in until the socket is closed, and tell of each; the code it was closed with."""
        try:
            while True:
                frame = await self._receive()
                if told is not None:
                    told(frame)
        except websockets.ConnectionClosed:
            assert self.wire is not None
            return self.wire.close_code

    async def closed(self) -> int | None:
        """:meth:`listen`, but an end is expected soon."""
        async with patience(SECONDS):
            return await self.listen()

    async def _receive(self) -> dict[str, Any]:
        assert self.wire is not None, "no socket is attached"
        frame: dict[str, Any] = json.loads(await self.wire.recv())
        self.frames.append(frame)
        if frame["kind"] == "plan:update" and frame["epoch"] == self.epoch:
            self.replica.apply(base64.b64decode(frame["update"]))
        elif frame["kind"] == "plan:ack" and self.unacknowledged.pop(frame["id"], None) is not None:
            self.acknowledged.append(frame["id"])
        elif frame["kind"] == "plan:reset":
            self._start_over()
        return frame

    def _start_over(self) -> None:
        """What is not acknowledged belongs to a history that is gone; nothing is typed before the document was opened again."""
        self.dropped |= self.unacknowledged
        self.unacknowledged.clear()
        self.epoch = ""


def _encoded(update: bytes) -> str:
    return base64.b64encode(update).decode()
