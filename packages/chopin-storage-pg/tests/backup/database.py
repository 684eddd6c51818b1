"""A database with documents of every kind, what stands in one, and backups of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from chopin_core.counters import Epoch, StorageRevision
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId
from chopin_core.ports.channels import Initial
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.sidecar import Sidecar
from chopin_storage_pg.backup.manifest import Manifest
from chopin_storage_pg.backup.programs import find_programs
from chopin_storage_pg.backup.restoring import Restored, restore_backup
from chopin_storage_pg.backup.taking import Told, take_backup
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.tables import metadata

from made import ADA, NOW, commit, creation
from stores import pairing, web_session

ENGINE: Final = PycrdtEngine()


def silent(what: str, done: int, total: int) -> None:
    """Told of everything, says nothing."""


def first(text: str, epoch: str) -> Initial:
    document = ENGINE.new()
    if text:
        document.splice([Splice(0, 0, text)])
    return Initial(
        generation="g0",
        epoch=Epoch(epoch),
        source=canonical(text),
        source_hash=source_hash(canonical(text)),
        document=document.update(),
        sidecar=Sidecar().record(),
    )


async def fill(storage: PgStorage) -> Lease:
    """
    Channels: ``plain``, ``journal`` with two updates after its checkpoint, ``put-away`` (archived) with a ``child``, and
    ``unopened``. Somebody is signed in, and has a machine.
    """
    await storage.users.put(ADA, now=NOW)
    lease = await storage.leases.acquire(WRITER, "the former", timedelta(minutes=10))
    assert lease is not None
    for name in ("plain", "journal", "put-away"):
        await storage.channels.create(creation(name, initial=first(f"# {name}\n", f"epoch of {name}")))
    await storage.channels.create(creation("child", parent_id="put-away", initial=first("small", "epoch of child")))
    await storage.channels.create(creation("unopened"))
    await write_on(storage, lease, "journal", "more ", "and ")
    await storage.channels.archive(ChannelId("put-away"), now=NOW)
    await storage.sessions.create(web_session())
    await storage.machines.pair(pairing())
    return lease


async def write_on(storage: PgStorage, lease: Lease, id: str, *words: str) -> None:
    """Words at the beginning of a document, each of which becomes a row of its journal."""
    stored = await storage.collaboration.load(ChannelId(id))
    assert stored is not None and stored.snapshot is not None
    replica = ENGINE.load([stored.snapshot.document, *(row.update for row in stored.updates)])
    for offset, word in enumerate(words):
        update = replica.splice([Splice(0, 0, word)])
        expected = StorageRevision(stored.channel.revision + offset)
        written = commit(stored.channel, expected=expected, epoch=stored.snapshot.epoch, update=update, sidecar=None)
        await storage.collaboration.commit(written, lease=lease)


async def backed_up(url: str, target: Path, told: Told = silent) -> Manifest:
    return await take_backup(url, target, engine=ENGINE, programs=await find_programs(None), told=told)


async def restored(url: str, file: Path, told: Told = silent) -> Restored:
    return await restore_backup(url, file, engine=ENGINE, programs=await find_programs(None), told=told)


async def execute(url: str, statement: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as session:
        await session.execute(statement.encode())


async def asked(url: str, query: str) -> list[tuple[Any, ...]]:
    async with await psycopg.AsyncConnection.connect(url) as session:
        return await (await session.execute(query.encode())).fetchall()


async def contents(url: str) -> Mapping[str, list[str]]:
    """Every row of every table of ours, as text."""
    async with await psycopg.AsyncConnection.connect(url) as session:
        found = {}
        for name in metadata.tables:
            query = sql.SQL("SELECT row_to_json(t)::text FROM {} t ORDER BY 1").format(sql.Identifier(name))
            found[name] = [row[0] for row in await (await session.execute(query)).fetchall()]
        return found


async def relations(url: str) -> list[str]:
    """What stands in a database besides the server's own: tables, indexes, functions, extensions."""
    found = await asked(
        url,
        """
        SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT extname::text FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1
        """,
    )
    return [name for (name,) in found]
