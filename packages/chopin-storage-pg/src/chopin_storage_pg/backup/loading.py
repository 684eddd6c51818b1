"""Filling an empty database from a dump, in one transaction."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import Final

from chopin_storage_pg import trigrams
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import CHUNK, BackupFile
from chopin_storage_pg.backup.programs import PSQL, RESTORE, Programs, Run, client_environment
from chopin_storage_pg.backup.taking import Told
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import chopin_migrations

_SCRIPT: Final = (
    "--file=-",
    "--no-owner",
    "--no-privileges",
    "--no-tablespaces",
    "--no-security-labels",
    "--no-publications",
    "--no-subscriptions",
    "--exit-on-error",
)
_FILL: Final = (
    "--no-psqlrc",
    "--quiet",
    "--no-password",
    "--set=ON_ERROR_STOP=1",
    "--set=VERBOSITY=terse",
    "--output=/dev/null",
    "--file=-",
)

_LATER_SETTING: Final = re.compile(rb"^SET transaction_timeout = 0;\n", re.MULTILINE)
"""What a dump begins with since PostgreSQL 17, and what no older server knows."""


async def load(url: str, backup: BackupFile, *, connections: Connections, programs: Programs, told: Told) -> None:
    """
    Everything of the dump but the rows of the ledger.

    ``pg_restore`` makes a script of it and ``psql`` runs that, so that the transaction is ours to end: it ends well only after
    the whole dump was read, found right and run.

    Raises:
        BackupFailed: a program failed; nothing is kept.
    """
    async with connections.single() as connection:
        searching = bool(await connection.scalar(trigrams.MAY_INSTALL) or await connection.scalar(trigrams.CAN_INDEX))
    environment = client_environment(url)
    with tempfile.NamedTemporaryFile("w", prefix="chopin-restore-") as listing:
        listing.writelines(_wanted(await _listing(backup, programs, environment), indexed=searching))
        listing.flush()
        async with (
            programs.started(PSQL, *_FILL, environment=environment, given=True) as psql,
            programs.started(RESTORE, *_SCRIPT, f"--use-list={listing.name}", environment=environment, given=True) as restore,
        ):
            await psql.give(b"BEGIN;\n")
            feeding = asyncio.create_task(_fed(restore, backup, told))
            try:
                await _passed_on(restore, psql)
                await restore.ended()
                await feeding
            finally:
                feeding.cancel()
                await asyncio.wait([feeding])
            await psql.give(b"\nCOMMIT;\n")
            psql.no_more()
            await psql.ended()


async def _listing(backup: BackupFile, programs: Programs, environment: Mapping[str, str]) -> list[str]:
    """What is in the dump, a line each; it stands at the beginning, and no more than that is read."""
    async with programs.started(RESTORE, "--list", environment=environment, given=True) as run:
        listed = asyncio.create_task(run.output.read(-1))
        for piece in backup.dump():
            if not await run.give(piece):
                break
        run.no_more()
        lines = (await listed).decode().splitlines(keepends=True)
        await run.ended()
    return lines


def _wanted(lines: Iterable[str], *, indexed: bool) -> Iterable[str]:
    """Without the ledger's rows, without what only an extension's owner may do, and without an index that cannot be had."""
    unwanted = [rf"TABLE DATA \S+ {chopin_migrations.name} ", "COMMENT - EXTENSION ", "SCHEMA - public "]
    if not indexed:
        unwanted += ["EXTENSION - pg_trgm ", rf"INDEX \S+ {trigrams.INDEX} "]
    left_out = re.compile(r"\d+; \d+ \d+ (?:" + "|".join(unwanted) + ")")
    return (line for line in lines if not left_out.match(line))


async def _fed(restore: Run, backup: BackupFile, told: Told) -> None:
    given = 0
    for piece in backup.dump():
        if not await restore.give(piece):
            break  # it failed, and will say why; or it needs no more
        given += len(piece)
        told("filling the database, in bytes", given, backup.size)
    restore.no_more()


async def _passed_on(restore: Run, psql: Run) -> None:
    piece = await restore.output.read(CHUNK)
    while len(piece) < CHUNK and (more := await restore.output.read(CHUNK)):
        piece += more
    piece = _LATER_SETTING.sub(b"", piece, count=1)
    while piece:
        if not await psql.give(piece):
            await psql.ended()
            raise BackupFailed(PSQL, "ended too early")
        piece = await restore.output.read(CHUNK)
