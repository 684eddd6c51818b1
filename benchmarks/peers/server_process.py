"""A peer's server as a process: ready when it says so on its log, ended by a signal or for good."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from chopin_web.serving import listen

READY: Final = "ready"
"""What a server prints once it listens."""

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 40.0


class ServerProcess:
    """One process after another of one command, always on the same port and log."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        with listen("127.0.0.1", 0) as listener:
            self.port: int = listener.getsockname()[1]
        self._command = command
        self._log = log
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "it is not running"
        return self._process.pid

    def said(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    async def start(self) -> None:
        """
        Start it and wait until it listens.

        Raises:
            ChildProcessError: it ended instead; with what it said.
        """
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self._environment, "PORT": str(self.port)},
                cwd=self._log.parent,
            )
        async with asyncio.timeout(_START_SECONDS):
            while READY not in self.said().split():
                if self._process.returncode is not None:
                    raise ChildProcessError(self.said())
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        assert self._process is not None, "it is not running"
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(_STOP_SECONDS):
            await self._process.wait()
        self._process = None

    async def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()
