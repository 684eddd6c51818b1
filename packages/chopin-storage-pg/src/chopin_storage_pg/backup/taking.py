"""Taking a backup beside a running server: manifest and dump see one and the same state of the database."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

import attrs
from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.ports.documents import DocumentEngine
from chopin_core.room.dry_run import Standing, Unrecoverable, dry_run
from chopin_storage_pg import ledger, rows
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import CHUNK, DUMP, MANIFEST, Writer, new_file
from chopin_storage_pg.backup.manifest import Applied, Manifest
from chopin_storage_pg.backup.programs import DUMP as PG_DUMP
from chopin_storage_pg.backup.programs import Programs, client_environment
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.every_channel import InOneTransaction
from chopin_storage_pg.tables import chopin_migrations

Told: TypeAlias = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is; 0 where that is not known."""

_WORDS: Final = (
    "--format=custom",
    "--no-password",
    # The server's other extensions are its operator's, and may not be had where this is restored. Every database has PL/pgSQL,
    # which is never dumped; without it the pattern might find nothing, and that is an error.
    "--extension=(pg_trgm|plpgsql)",
    "--no-publications",
    "--no-subscriptions",
    "--lock-wait-timeout=60s",
)


async def take_backup(url: str, target: Path, *, engine: DocumentEngine, programs: Programs, told: Told) -> Manifest:
    """
    Write a database to a new file, whole or not at all. Writers go on writing; nobody waits but a change of the schema.

    A channel that does not recover is in the dump as it is, and in the manifest by name.

    Raises:
        BackupFailed: the file cannot be had, the database is none of ours, or a program failed.
        CorruptRecord: the schema is of a newer version, or of files that were changed.
        Unavailable, InvalidField: the database cannot be reached.
    """
    connections = Connections(url)
    try:
        async with connections.reading() as connection:
            snapshot = await connection.scalar(select(func.pg_export_snapshot()))
            # It is idle for as long as the dump takes, and the dump needs it to the end.
            await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            version, number = await _server(connection)
            if programs.major < number // 10_000:
                raise BackupFailed(
                    str(programs.directory / PG_DUMP),
                    f"is of version {programs.major} and the server of {version}; name newer programs with --pg-bin",
                )
            applied = await connection.run_sync(_ledger)
            with new_file(target) as file:
                manifest = await _manifest(connection, version, applied, engine, told)
                writer = Writer(file, manifest.taken_at.timestamp())
                writer.begin(MANIFEST)
                writer.write(manifest.encoded())
                writer.end()
                writer.begin(DUMP)
                await _dump(writer, programs, client_environment(url), str(snapshot), told)
                writer.end()
                writer.finish()
            return manifest
    finally:
        await connections.close()


async def _server(connection: AsyncConnection) -> tuple[str, int]:
    version, number = (
        await connection.execute(
            text("SELECT current_setting('server_version'), current_setting('server_version_num')::integer")
        )
    ).one()
    return version.partition(" ")[0], number


def _ledger(connection: Connection) -> tuple[Applied, ...]:
    if not ledger.applied(connection):
        found = inspect(connection).get_table_names()
        raise BackupFailed("the database", "was not made by Chopin" if found else "is empty; there is nothing to back up")
    return tuple(
        Applied(id=row.id, file=row.file, checksum=row.checksum, applied_at=rows.utc(row.applied_at))
        for row in connection.execute(select(chopin_migrations).order_by(chopin_migrations.c.id))
    )


async def _manifest(
    connection: AsyncConnection, server: str, applied: tuple[Applied, ...], engine: DocumentEngine, told: Told
) -> Manifest:
    channels = InOneTransaction(connection)
    total = await channels.count()
    recovered: list[Standing] = []
    unrecoverable: list[Unrecoverable] = []
    async for found in dry_run(channels, engine):
        if isinstance(found, Standing):
            recovered.append(attrs.evolve(found, miscounted=False))
        else:
            unrecoverable.append(found)
        told("reading channels", len(recovered) + len(unrecoverable), total)
    taken_at: datetime | None = await connection.scalar(select(func.now()))
    assert taken_at is not None
    return Manifest(
        chopin=importlib.metadata.version("chopin-storage-pg"),
        server=server,
        taken_at=rows.utc(taken_at),
        ledger=applied,
        channels=tuple(recovered),
        unrecoverable=tuple(unrecoverable),
    )


async def _dump(writer: Writer, programs: Programs, environment: Mapping[str, str], snapshot: str, told: Told) -> None:
    async with programs.started(PG_DUMP, *_WORDS, f"--snapshot={snapshot}", environment=environment) as run:
        written = 0
        while piece := await run.output.read(CHUNK):
            writer.write(piece)
            written += len(piece)
            told("dumping, in bytes", written, 0)
        await run.ended()
