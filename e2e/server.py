"""The server as its operator runs it: `chopin local` as a process of its own, which can also die."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.directory import Directory
from chopin_storage_pg.embedded.server import EmbeddedPostgres

from .waiting import until

PROJECT = "acme/plans"
START_SECONDS = 60.0
STOP_SECONDS = 30.0


class Server:
    """One process after another on the same data directory, port and log; at most one at a time."""

    def __init__(self, directory: Path, *, bytecode: Path | None = None) -> None:
        """``bytecode`` may be shared: where Python may not write beside the code, each start would compile all of it anew."""
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.link = ""
        self._bytecode = bytecode or directory / "bytecode"
        self._checkout = directory / "plans"
        self._port = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.link).query)["token"][0]

    @property
    def postgres(self) -> Path:
        return self.data / "postgres"

    @property
    def running(self) -> bool:
        return self._process is not None

    async def start(self) -> None:
        """Start it, on the same port as before if there was a before, and wait until it has printed where to sign in."""
        assert self._process is None
        if not self._checkout.exists():
            await _make_checkout(self._checkout)
        before = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "chopin_web", "local"),
                *("--data", str(self.data), "--repo", str(self._checkout), "--port", str(self._port)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "PYTHONPYCACHEPREFIX": str(self._bytecode), "PYTHONDONTWRITEBYTECODE": ""},
            )
        link = await until(lambda: self._printed(before), bool, within=START_SECONDS, wanted="a sign-in link")
        self.link = str(link)
        self._port = urlsplit(self.link).port or 0

    async def stop(self) -> None:
        """Ask it to stop; it must have nothing to complain about."""
        process = self._running()
        process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(process.wait(), STOP_SECONDS)
        self._process = None
        assert status == 0, f"stopped with status {status}; the log ends with:\n{self.log.read_text()[-2_000:]}"

    async def kill(self) -> None:
        """End it without a last word (`kill -9`). Its PostgreSQL lives on, as it would for an operator."""
        process = self._running()
        process.kill()
        await process.wait()
        self._process = None

    async def lose_postgres(self) -> None:
        """Kill its database under it, and wait until it has given up, as it must: status 1 and nothing acknowledged."""
        running = postmaster.read(Directory(self.postgres).cluster)
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        status = await asyncio.wait_for(self._running().wait(), STOP_SECONDS)
        self._process = None
        assert status == 1

    def freeze(self) -> None:
        """Let it stand still with all its connections open."""
        self._running().send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._running().send_signal(signal.SIGCONT)

    async def end(self) -> None:
        """Leave nothing running, whatever has become of it."""
        if self._process is not None:
            await self.stop()
        elif self.postgres.exists():
            # Joining what a killed process left behind, and leaving it as the last one, stops it.
            await asyncio.to_thread(lambda: EmbeddedPostgres.start(self.postgres).stop())

    def _running(self) -> asyncio.subprocess.Process:
        assert self._process is not None, "not running"
        return self._process

    async def _printed(self, before: int) -> str | None:
        process = self._running()
        printed = self.log.read_bytes()[before:].decode()
        if process.returncode is not None:
            self._process = None
            raise AssertionError(f"did not start (status {process.returncode}):\n{printed}")
        found = re.search(r"Sign in:\s+(\S+)", printed)
        return found and found[1]


async def _make_checkout(path: Path) -> None:
    for words in (
        ("init", "--quiet", str(path)),
        ("-C", str(path), "remote", "add", "origin", f"https://example.org/{PROJECT}"),
    ):
        git = await asyncio.create_subprocess_exec("git", *words)
        assert await git.wait() == 0
