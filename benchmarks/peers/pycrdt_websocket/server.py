"""
A pycrdt-websocket server as its documentation builds one: its ASGI server on uvicorn, each room with an SQLite store.

Run as a script, with ``PORT`` and ``STORE`` in the environment. Rooms are filled from the store before anybody is served, as
Jupyter does; all settings of the library are its defaults.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress

import uvicorn
from anyio import Lock
from pycrdt.store import SQLiteYStore, YDocNotFound
from pycrdt.websocket import ASGIServer, WebsocketServer, YRoom


class DocumentStore(SQLiteYStore):
    """All documents in one database file."""

    db_path = os.environ["STORE"]


class StoredRooms(WebsocketServer):
    """Rooms that begin with what is stored of them."""

    def __init__(self) -> None:
        super().__init__()
        self._opening = Lock()

    async def get_room(self, name: str) -> YRoom:
        async with self._opening:
            if name not in self.rooms:
                store = DocumentStore(path=name)
                room = self.rooms[name] = YRoom(ready=False, ystore=store, log=self.log)
                await self.start_room(room)
                await store.started.wait()
                with suppress(YDocNotFound):
                    await store.apply_updates(room.ydoc)
                room.ready = True  # what changes from now on is told and stored
                await room.ydoc_observed.wait()
            return self.rooms[name]


async def main() -> None:
    rooms = StoredRooms()
    config = uvicorn.Config(ASGIServer(rooms), host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
    server = uvicorn.Server(config)
    async with rooms:
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - because uvicorn has no event for it
            await asyncio.sleep(0.01)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await serving


if __name__ == "__main__":
    asyncio.run(main())
