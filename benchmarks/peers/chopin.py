"""Chopin itself: ``chopin serve`` on a PostgreSQL database, as an operator runs it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.document import Word
from benchmarks.peers.system import System, joined
from benchmarks.peers.wire import TEXT, Address
from chopin_core.ports.leases import WRITER
from chopin_storage_pg.storage import open_storage
from chopin_storage_pg.testing import ScratchServer
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import Server

_LEASE_SECONDS: Final = 60.0


class ChopinSpeech:
    """JSON frames (protocol spec §4)."""

    kind = TEXT

    def __init__(self) -> None:
        self._epoch = ""

    def greeting(self) -> Sequence[bytes]:
        return [_frame("plan:open", rid="open")]

    def state(self, message: bytes) -> bytes | None:
        frame = json.loads(message)
        if frame["kind"] != "plan:open":
            return None
        self._epoch = frame["epoch"]
        return base64.b64decode(frame["update"])

    def edit(self, word: Word, update: bytes) -> bytes:
        id = str(word).strip()
        return _frame("plan:update", rid=id, epoch=self._epoch, id=id, update=base64.b64encode(update).decode())

    def brought(self, message: bytes) -> bytes:
        if not message.startswith(b'{"kind":"plan:update"'):
            return b""
        return base64.b64decode(json.loads(message)["update"])

    def confirms(self, message: bytes, writer: int) -> bool:
        return message.startswith(b'{"kind":"plan:ack"')


class Chopin:
    name = "Chopin"
    confirmation = "plan:ack: the edit is committed to PostgreSQL"

    def __init__(self, database_url: str, folder: Path) -> None:
        self._database_url = database_url
        self._killed = False
        self._server = Server(folder, database_url=database_url)
        self._channels: dict[str, str] = {}
        self._cookie = ""

    @property
    def about(self) -> str:
        served = f"chopin-web {version('chopin-web')}, Hypercorn {version('hypercorn')}, pycrdt {version('pycrdt')}"
        return f"{served}; commits to PostgreSQL, then relays"

    @property
    def pid(self) -> int:
        return self._server.pid

    def said(self) -> str:
        return self._server.said()

    async def start(self) -> None:
        if self._killed:
            await self._lease_expired()
        await self._server.start()
        async with signed_in(self._server.origin, self._server.token) as person:
            self._cookie = "; ".join(f"{name}={value}" for name, value in person.http.cookies.items())

    async def stop(self) -> None:
        await self._server.stop()

    async def kill(self) -> None:
        self._killed = self._killed or self._server.running
        await self._server.kill()

    async def keep(self, documents: Sequence[str], update: bytes) -> None:
        async with signed_in(self._server.origin, self._server.token) as person:
            for document in documents:
                self._channels[document] = await person.create_document(document)
                async with joined(self, document) as somebody:
                    somebody.wire.write(somebody.frame(Word(0, 0), update))
                    await somebody.wire.first(lambda message: somebody.speech.confirms(message, 0) or None)

    def address(self, document: str) -> Address:
        port = int(self._server.origin.rpartition(":")[2])
        headers = {"Origin": self._server.origin, "Cookie": self._cookie}
        return Address(port=port, path=f"/ws?channel={self._channels[document]}", headers=headers)

    def speech(self, document: str) -> ChopinSpeech:
        return ChopinSpeech()

    async def _lease_expired(self) -> None:
        """A process that was killed could not let the writer lease go; a supervisor would try again until it has run out."""
        async with await open_storage(self._database_url) as storage, asyncio.timeout(_LEASE_SECONDS):
            while await storage.leases.holder(WRITER) is not None:  # noqa: ASYNC110 - because time alone ends it
                await asyncio.sleep(0.2)
        self._killed = False


@asynccontextmanager
async def chopin(postgres: ScratchServer, folder: Path) -> AsyncIterator[System]:
    """On a database of its own; not started yet."""
    async with postgres.copied() as database:
        system = Chopin(database.url, folder)
        try:
            yield system
        finally:
            await system.kill()


def _frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"kind": kind, "ts": 0, **fields}, separators=(",", ":")).encode()
