"""The server of this folder as one of the systems: binary sync messages, one path a document, an SQLite file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from pycrdt.store import SQLiteYStore

from benchmarks.peers import ysync
from benchmarks.peers.document import Word
from benchmarks.peers.server_process import ServerProcess
from benchmarks.peers.system import System
from benchmarks.peers.wire import BINARY, Address

SERVER = Path(__file__).with_name("server.py")


class PycrdtSpeech:
    """The sync protocol, and nothing around it."""

    kind = BINARY

    def greeting(self) -> Sequence[bytes]:
        return [ysync.ASK]

    def state(self, message: bytes) -> bytes | None:
        return ysync.state(message)

    def edit(self, word: Word, update: bytes) -> bytes:
        return ysync.edit(update)

    def brought(self, message: bytes) -> bytes:
        return ysync.brought(message)

    def confirms(self, message: bytes, writer: int) -> bool:
        return f"w{writer:02}x".encode() in ysync.brought(message)


class PycrdtWebsocket:
    name = "pycrdt-websocket"
    confirmation = "the echo of the edit: applied in memory, its write to SQLite begun at most"

    def __init__(self, folder: Path) -> None:
        self._store = folder / "store.db"
        self._server = ServerProcess([sys.executable, str(SERVER)], folder / "server.log", {"STORE": str(self._store)})

    @property
    def about(self) -> str:
        served = f"pycrdt-websocket {version('pycrdt-websocket')}, uvicorn {version('uvicorn')}, pycrdt {version('pycrdt')}"
        return f"{served}; pycrdt-store {version('pycrdt-store')} SQLiteYStore with its defaults, on SQLite's own"

    @property
    def pid(self) -> int:
        return self._server.pid

    def said(self) -> str:
        return self._server.said()

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()

    async def kill(self) -> None:
        await self._server.kill()

    async def keep(self, documents: Sequence[str], update: bytes) -> None:
        class Store(SQLiteYStore):
            db_path = str(self._store)

        for document in documents:
            async with Store(path=self.address(document).path) as store:
                await store.write(update)

    def address(self, document: str) -> Address:
        return Address(port=self._server.port, path=f"/{document}")

    def speech(self, document: str) -> PycrdtSpeech:
        return PycrdtSpeech()


@asynccontextmanager
async def pycrdt_websocket(folder: Path) -> AsyncIterator[System]:
    """On a file of its own; not started yet."""
    system = PycrdtWebsocket(folder)
    try:
        yield system
    finally:
        await system.kill()
