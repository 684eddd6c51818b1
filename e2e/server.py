"""The server that the browsers talk to: `chopin local` for a checkout. It can also lose its database."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.directory import Directory
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_web.testing.server import Server as Process

PROJECT = "acme/plans"


class Server(Process):
    def __init__(self, directory: Path) -> None:
        super().__init__(directory, repo=directory / "plans")

    async def start(self) -> None:
        checkout = self.directory / "plans"
        if not checkout.exists():
            await _make_checkout(checkout)
        await super().start()

    async def lose_postgres(self) -> None:
        """Kill its database under it, and wait until it has given up, as it must: status 1 and nothing acknowledged."""
        running = postmaster.read(Directory(self.postgres).cluster)
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        assert await self.ended() == 1

    async def end(self) -> None:
        """Leave nothing running, whatever has become of it."""
        if self.running:
            await self.stop()
        elif self.postgres.exists():
            # Joining what a killed process left behind, and leaving it as the last one, stops it.
            await asyncio.to_thread(lambda: EmbeddedPostgres.start(self.postgres).stop())


async def _make_checkout(path: Path) -> None:
    for words in (
        ("init", "--quiet", str(path)),
        ("-C", str(path), "remote", "add", "origin", f"https://example.org/{PROJECT}"),
    ):
        git = await asyncio.create_subprocess_exec("git", *words)
        assert await git.wait() == 0
