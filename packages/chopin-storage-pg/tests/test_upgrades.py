"""A database of any released shape is brought to exactly what a new one is, with what it held."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import psycopg
import pytest

from chopin_core.errors import CorruptRecord, StorageUnavailable
from chopin_core.ids import OperationId
from chopin_core.people import User
from chopin_core.ports.pruning import Pruning
from chopin_storage_pg import ledger, trigrams
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from made import ADA, NOW, creation
from migrating import migrating
from watch import Watch

SHAPES: Final = sorted((Path(__file__).parent / "shapes").glob("*.sql"))

SCHEMA: Final = {
    "tables": """
        SELECT c.relname, c.reloptions, obj_description(c.oid, 'pg_class')
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    """,
    "columns": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
            k.collname, col_description(c.oid, a.attnum)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            LEFT JOIN pg_collation k ON k.oid = a.attcollation
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    "indexes": f"SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND indexname <> '{trigrams.INDEX}'",
    "functions": """
        SELECT pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'chopin%'
    """,
}
"""What makes a schema: all of it but the order of columns, which an upgrade cannot choose."""


@pytest.fixture(params=SHAPES, ids=lambda shape: shape.stem)
async def released(request: pytest.FixtureRequest, server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """A database as a release left it."""
    async with server.blank() as database:
        async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as session:
            await session.execute(request.param.read_bytes())
        yield database


@pytest.fixture
async def storage(released: ScratchDatabase) -> AsyncIterator[PgStorage]:
    async with await released.connect() as storage:
        yield storage


@pytest.fixture
async def beside(released: ScratchDatabase) -> AsyncIterator[Watch]:
    async with await psycopg.AsyncConnection.connect(released.url, autocommit=True) as session:
        yield Watch(session)


async def schema(watch: Watch) -> dict[str, set[tuple[str, ...]]]:
    parts = {}
    for part, query in SCHEMA.items():
        cursor = await watch.session.execute(query.encode())
        parts[part] = {tuple(map(str, row)) for row in await cursor.fetchall()}
    return parts


async def test_an_upgraded_database_is_what_a_new_one_is(storage: PgStorage, beside: Watch, watch: Watch) -> None:
    new = await schema(watch)
    before = await schema(beside)

    await storage.migrate()
    await storage.health()

    upgraded = await schema(beside)
    for part in SCHEMA:
        assert upgraded[part] - new[part] == set(), part
        assert new[part] - upgraded[part] == set(), part
        assert new[part], part
    assert before["tables"] < new["tables"]


async def test_an_old_database_is_not_healthy_until_it_is_upgraded(storage: PgStorage) -> None:
    with pytest.raises(CorruptRecord) as caught:
        await storage.health()
    assert caught.value.reason.endswith("is missing")

    await storage.migrate()
    await storage.health()


async def test_every_revision_is_recorded_once_with_its_file(storage: PgStorage, beside: Watch) -> None:
    for _ in range(2):
        await storage.migrate()

        cursor = await beside.session.execute("SELECT id, checksum FROM chopin_migrations ORDER BY id")
        assert await cursor.fetchall() == list(ledger.checksums().items())


async def test_what_was_stored_is_there_after_the_upgrade(storage: PgStorage, beside: Watch) -> None:
    await storage.users.put(ADA, now=NOW)
    channel = await storage.channels.create(creation("one"))

    await storage.migrate()

    assert await storage.users.get(ADA.id) == User(person=ADA, created_at=NOW, updated_at=NOW)
    assert await storage.channels.get(channel.id) == channel
    visited = await storage.navigation.record_visit(ADA.id, channel.id, channel.repository, now=NOW)
    assert visited.last_document == channel.id


async def test_operations_that_were_kept_before_count_from_the_upgrade(storage: PgStorage, beside: Watch) -> None:
    await storage.users.put(ADA, now=NOW)
    channel = await storage.channels.create(creation("one"))
    await beside.run(
        "INSERT INTO channel_operations (channel_id, operation_id, sequence, revision) VALUES ('one', 'operation', 1, 1)",
        "UPDATE channels SET revision = 1, next_sequence = 2",
    )
    place = "SELECT pg_relation_filenode('channel_operations')"
    before = await beside.value(place)

    await storage.migrate()

    lease = await storage.leases.acquire("writer", "tests", timedelta(minutes=10))
    assert lease is not None
    for window, gone in ((timedelta(minutes=5), 0), (timedelta(0), 1)):
        assert await storage.collaboration.operation(channel.id, OperationId("operation"))
        pruned = await storage.collaboration.prune(Pruning(older_than=window, limit=10), lease=lease)
        assert pruned.operations == gone
    assert await storage.collaboration.operation(channel.id, OperationId("operation")) is None
    assert await beside.value(place) == before, "a large table was written anew, with everybody waiting"


async def test_an_upgrade_that_fails_halfway_leaves_the_database_as_it_was(storage: PgStorage, beside: Watch) -> None:
    before = await schema(beside)
    await beside.run("CREATE SEQUENCE background_jobs_page_idx")  # a name that the upgrade needs, late

    with pytest.raises(StorageUnavailable):
        await storage.migrate()
    assert await schema(beside) == before
    assert await beside.value("SELECT count(*) FROM chopin_migrations") == 1

    await beside.run("DROP SEQUENCE background_jobs_page_idx")
    await storage.migrate()
    await storage.health()


async def test_processes_that_upgrade_at_once_all_succeed(released: ScratchDatabase, storage: PgStorage, beside: Watch) -> None:
    processes = [await migrating(released.url) for _ in range(4)]

    errors = [(await process.communicate())[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert await beside.value("SELECT count(*) FROM chopin_migrations") == len(ledger.checksums())
    await asyncio.wait_for(storage.health(), 10)


def test_every_shape_is_one_that_our_revisions_made() -> None:
    assert SHAPES
    assert {shape.stem for shape in SHAPES} <= set(ledger.checksums())


def test_no_later_revision_is_made_of_what_the_schema_is_today() -> None:
    # A function is another matter: whatever it was, it is replaced whole, and by each later revision that changes it.
    for path in sorted(ledger.VERSIONS.glob("[0-9]*.py"))[1:]:
        text = path.read_text().replace("from chopin_storage_pg.functions import CREATE_COMMIT", "")
        assert "chopin_storage_pg" not in text, path.name
