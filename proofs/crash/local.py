"""``chopin local`` with everybody signed in, and the PostgreSQL in its data directory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_web.testing.server import Server

from .report import Tally
from .scene import Scene


class Database:
    """The PostgreSQL of a data directory, which may be started again under another address."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._joined: EmbeddedPostgres | None = None

    @property
    def url(self) -> str:
        assert self._joined is not None
        return self._joined.url

    async def join(self) -> None:
        """Use the one that runs, or start it, recovering what a crash left."""
        await self.leave()
        self._joined = await asyncio.to_thread(EmbeddedPostgres.start, self.directory)

    async def leave(self) -> None:
        if self._joined is not None:
            await asyncio.to_thread(self._joined.stop)
            self._joined = None


@asynccontextmanager
async def local_scene(directory: Path, random: Random, tally: Tally) -> AsyncIterator[tuple[Scene, Database]]:
    """``chopin local``, whose PostgreSQL outlives it, with everybody signed in."""
    server = Server(directory)
    await server.start()
    # Joined after the server has started it, and never the first to stop using it.
    database = Database(server.postgres)
    await database.join()
    scene = Scene(server=server, random=random, tally=tally, url=lambda: database.url)
    try:
        await scene.enter()
        yield scene, database
    finally:
        await server.kill()
        await scene.leave()
        await database.leave()
