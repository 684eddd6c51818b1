"""What the figures depend on: the disk, how busy the machine is, and which versions run."""

from __future__ import annotations

import os
import platform
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Final

import attrs
import psycopg

from chopin_storage_pg.testing import ScratchServer

_PAGE: Final = bytes(8192)
_SECONDS: Final = 0.5
_REQUIRED: Final = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


class NotDurable(Exception):
    """The server acknowledges what it has not written, so no figure from it says anything about durable commits."""


@attrs.frozen(kw_only=True)
class Machine:
    started_at: datetime
    commit: str
    kind: str
    python: str
    postgres: str
    fsyncs: float | None
    """Per second, of one 8 KiB page in the server's own directory; None if that is not on this machine."""
    load: float

    def lines(self) -> Mapping[str, str]:
        return {
            "date": f"{self.started_at:%Y-%m-%d %H:%M} UTC",
            "commit": self.commit,
            "machine": self.kind,
            "Python, PostgreSQL": f"{self.python}, {self.postgres}",
            "fsync rate": "unknown: the server's directory is elsewhere" if self.fsyncs is None else f"{self.fsyncs:,.0f} /s",
            "load average": f"{self.load:.2f}",
        }


def look(server: ScratchServer) -> Machine:
    """
    Raises:
        NotDurable: the server is set up to lose what it acknowledged.
    """
    with psycopg.connect(server.url) as connection:
        for name, required in _REQUIRED.items():
            if (value := _setting(connection, name)) != required:
                raise NotDurable(f"{name} is {value}")
        directory = Path(_setting(connection, "data_directory"))
        postgres = _setting(connection, "server_version")
    return Machine(
        started_at=datetime.now(UTC),
        commit=_commit(),
        kind=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        python=platform.python_version(),
        postgres=postgres.partition(" ")[0],
        fsyncs=_fsyncs(directory),
        load=os.getloadavg()[0],
    )


def _setting(connection: psycopg.Connection[tuple[str]], name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def _fsyncs(directory: Path) -> float | None:
    """How often a second a page can be written so that it is on the disk: what bounds a loop of durable commits."""
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=directory) as file:
        descriptor, count, started = file.fileno(), 0, perf_counter()
        while perf_counter() - started < _SECONDS:
            os.pwrite(descriptor, _PAGE, count % 256 * len(_PAGE))
            os.fdatasync(descriptor)
            count += 1
        return count / (perf_counter() - started)
    return None


def _commit() -> str:
    """The commit that was measured, with a plus when the tree differs from it."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"
