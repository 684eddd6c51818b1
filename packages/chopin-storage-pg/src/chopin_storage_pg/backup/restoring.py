"""Restoring a backup into an empty database: all of it, checked, as a history of its own; or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import attrs
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.ports.documents import DocumentEngine
from chopin_core.room.dry_run import Standing, dry_run
from chopin_storage_pg import ledger
from chopin_storage_pg.backup import new_history
from chopin_storage_pg.backup.contents import refuse_occupied, removed
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import BackupFile, open_backup
from chopin_storage_pg.backup.loading import load
from chopin_storage_pg.backup.manifest import Manifest
from chopin_storage_pg.backup.programs import Programs
from chopin_storage_pg.backup.taking import Told
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.every_channel import InOneTransaction
from chopin_storage_pg.faults import translated
from chopin_storage_pg.locks import MIGRATION_LOCK
from chopin_storage_pg.migrate import Migrations, Upgrade, upgrade
from chopin_storage_pg.tables import chopin_migrations

_NAMED: Final = 5


@attrs.frozen(kw_only=True)
class Restored:
    """What came back, and how its schema was brought up to date."""

    manifest: Manifest
    upgrade: Upgrade


async def restore_backup(url: str, path: Path, *, engine: DocumentEngine, programs: Programs, told: Told) -> Restored:
    """
    Fill an empty database from a backup, and see every channel of its manifest recover as it was.

    PostgreSQL's programs fill it in one transaction, but without the ledger of migrations; a second transaction adds that,
    brings the schema up to date, starts the new histories and checks everything. A database without its ledger is refused by
    every start, so whatever happens in between, nobody serves one that is half-done. Whoever starts meanwhile waits.

    Raises:
        BackupFailed: the file, the database or the programs are unfit, or what came back is not what was backed up. The
            database is as empty as it was.
        Unavailable, InvalidField: the database cannot be reached.
    """
    told("checking the file", 0, 0)
    backup = await asyncio.to_thread(open_backup, path)
    _refuse_newer(backup)
    connections = Connections(url)
    try:
        await Migrations(connections).refuse_unfit()
        async with _nobody_migrates(connections):
            async with connections.single() as connection:
                await refuse_occupied(connection)
            async with removed(connections):
                await load(url, backup, connections=connections, programs=programs, told=told)
                async with connections.writing() as connection:
                    done = await _finish(connection, backup, engine, told)
            return Restored(manifest=backup.manifest, upgrade=done)
    finally:
        await connections.close()


def _refuse_newer(backup: BackupFile) -> None:
    ours = ledger.checksums()
    for applied in backup.manifest.ledger:
        if applied.id not in ours:
            raise BackupFailed(
                str(backup.path),
                f"was made by a newer version of Chopin ({backup.manifest.chopin}, revision {applied.id}); use that one",
            )
        if applied.checksum != ours[applied.id]:
            raise BackupFailed(str(backup.path), f"has a revision {applied.id} that is not this version's")


@asynccontextmanager
async def _nobody_migrates(connections: Connections) -> AsyncIterator[None]:
    """A process that is started on the database waits at its migration until the context is left."""
    with translated():
        session = await connections.connect()
    try:
        with translated():
            await session.execute("SET idle_session_timeout = 0")
            cursor = await session.execute("SELECT pg_try_advisory_lock(%s)", (MIGRATION_LOCK,))
            if await cursor.fetchone() != (True,):
                raise BackupFailed("the database", "is being migrated or restored by another process")
        yield
    finally:
        await session.close()


async def _finish(connection: AsyncConnection, backup: BackupFile, engine: DocumentEngine, told: Told) -> Upgrade:
    await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    await connection.execute(insert(chopin_migrations), [attrs.asdict(row) for row in backup.manifest.ledger])
    done = await connection.run_sync(upgrade)
    await new_history.begin(connection)
    await _verify(connection, backup, engine, told)
    return done


async def _verify(connection: AsyncConnection, backup: BackupFile, engine: DocumentEngine, told: Told) -> None:
    """Every channel as the manifest has it, and no other."""
    channels = InOneTransaction(connection)
    expected = {one.channel_id: one for one in backup.manifest.channels}
    broken = {one.channel_id for one in backup.manifest.unrecoverable}
    total, seen, wrong = len(expected) + len(broken), 0, []
    async for found in dry_run(channels, engine):
        seen += 1
        told("checking channels", seen, total)
        if found.channel_id in broken:
            broken.remove(found.channel_id)
        elif not isinstance(found, Standing) or expected.pop(found.channel_id, None) != found:
            expected.pop(found.channel_id, None)
            wrong.append(str(found.channel_id))
    wrong += map(str, [*expected, *broken])
    if wrong:
        named = ", ".join(wrong[:_NAMED]) + (", …" if len(wrong) > _NAMED else "")
        raise BackupFailed(str(backup.path), f"does not come back as it was; {len(wrong)} channels differ: {named}")
