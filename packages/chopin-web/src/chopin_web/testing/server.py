"""A Chopin process as its operator runs it: started, asked to stop, killed, frozen, and started again."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

from chopin_web.serving import listen

START_SECONDS = 60.0
STOP_SECONDS = 40.0

_LINK = re.compile(r"Sign in:\s+(\S+)")


class Server:
    """
    One process after another of one configuration, on the same port, data directory and log; at most one at a time.

    With a database URL that is ``chopin serve``, without one ``chopin local`` with a PostgreSQL of its own in the data
    directory, which outlives a kill as it would for an operator.
    """

    def __init__(self, directory: Path, *, database_url: str | None = None, repo: Path | None = None) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.link = ""
        self.process: asyncio.subprocess.Process | None = None
        self._database_url = database_url
        self._repo = repo
        self._port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def token(self) -> str:
        """Signs people in, and agents."""
        return parse_qs(urlsplit(self.link).query)["token"][0]

    @property
    def postgres(self) -> Path:
        """Where ``chopin local`` keeps its PostgreSQL."""
        return self.data / "postgres"

    @property
    def running(self) -> bool:
        return self.process is not None

    @property
    def pid(self) -> int:
        return self._running().pid

    async def start(self) -> None:
        """
        Start it, on the same port as before if there was a before, and wait until it has printed where to sign in.

        Raises:
            AssertionError: it ended instead; with what it said.
        """
        await self.launch()
        async with asyncio.timeout(START_SECONDS):
            while not (found := _LINK.search(self.said())):
                if (status := self._running().returncode) is not None:
                    self.process = None
                    raise AssertionError(f"did not start (status {status}):\n{self.said()}")
                await asyncio.sleep(0.02)
        self.link = found[1]
        self._port = urlsplit(self.link).port or 0

    async def launch(self) -> None:
        """Start it without waiting for anything."""
        assert self.process is None, "it is running"
        self.directory.mkdir(parents=True, exist_ok=True)
        if not self._port:
            with listen("127.0.0.1", 0) as listener:
                self._port = listener.getsockname()[1]
        words = ["--data", str(self.data), *(["--repo", str(self._repo)] if self._repo else [])]
        words = ["serve", *words] if self._database_url else ["local", "--port", str(self._port), *words]
        self._begins_at = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "chopin_web", *words),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                cwd=self.directory,  # outside any checkout: without ``repo`` documents go to local/sandbox
            )

    def said(self) -> str:
        """What the last process has printed and logged."""
        with self.log.open("rb") as log:
            log.seek(self._begins_at)
            return log.read().decode()

    async def stop(self) -> None:
        """Ask it to stop; it must have nothing to complain about."""
        self._running().send_signal(signal.SIGTERM)
        status = await self.ended()
        assert status == 0, f"stopped with status {status}; the log ends with:\n{self.said()[-2_000:]}"

    async def ended(self, within: float = STOP_SECONDS) -> int:
        """Wait for its end; the exit status."""
        status = await asyncio.wait_for(self._running().wait(), within)
        self.process = None
        return status

    async def kill(self) -> None:
        """End it without a last word (``kill -9``), or make sure that it has ended."""
        process, self.process = self.process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    def freeze(self) -> None:
        """Let it stand still with all its connections open."""
        self._running().send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._running().send_signal(signal.SIGCONT)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    def _running(self) -> asyncio.subprocess.Process:
        assert self.process is not None, "it is not running"
        return self.process

    def _environment(self) -> Mapping[str, str]:
        kept = ("HOME", "PATH", "LANG", "PYTHONPYCACHEPREFIX", "TMPDIR")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        if self._database_url:
            environment |= {"DATABASE_URL": self._database_url, "AUTH_MODE": "local", "PORT": str(self._port)}
        return environment


@asynccontextmanager
async def serving(database_url: str, directory: Path) -> AsyncIterator[Server]:
    """``chopin serve`` on a database, ready; nothing of it is running afterwards."""
    async with Server(directory, database_url=database_url) as server:
        yield server
