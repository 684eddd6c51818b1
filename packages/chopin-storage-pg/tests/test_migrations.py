from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from chopin_core.errors import CorruptRecord, InvalidField, StorageUnavailable
from chopin_storage_pg import ledger, trigrams
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.tables import metadata
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer, with_database

from migrating import migrating
from watch import Watch

FIRST, *_, HEAD = ledger.checksums()
TOP = Path(__file__).parents[3]

LAST_OBSTACLE = """
CREATE FUNCTION chopin_commit(
    text, text, bigint, text, text, bigint, text, timestamptz, bytea, boolean, text, boolean, integer, json, json
) RETURNS integer LANGUAGE sql AS 'SELECT 1'
"""
"""The function is made after all tables, and cannot take the place of one that answers something else."""


@pytest.fixture
async def database(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """One to be spoiled."""
    async with server.copied() as database:
        yield database


@pytest.fixture
async def blank(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    async with server.blank() as database:
        yield database


@pytest.fixture
async def beside(blank: ScratchDatabase) -> AsyncIterator[Watch]:
    """A session on the blank database."""
    async with await psycopg.AsyncConnection.connect(blank.url, autocommit=True) as session:
        yield Watch(session)


@pytest.fixture
async def unmigrated(blank: ScratchDatabase) -> AsyncIterator[PgStorage]:
    async with await blank.connect() as storage:
        yield storage


async def tables(watch: Watch) -> int:
    return int(await watch.value("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))


async def test_migrations_reach_the_tables_that_queries_are_built_from(database: ScratchDatabase) -> None:
    def differences(connection: Connection) -> object:
        options = {"compare_type": True, "compare_server_default": True, "include_object": trigrams.in_metadata}
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    connections = Connections(database.url)
    async with connections.reading() as connection:
        assert await connection.run_sync(differences) == []
    await connections.close()


async def test_ids_are_ordered_by_code_point(watch: Watch) -> None:
    loose = await watch.value(
        "SELECT string_agg(attrelid::regclass || '.' || attname, ' ')"
        " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation k ON k.oid = a.attcollation"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'alembic_version'"
        " AND (attname = 'id' OR attname LIKE '%\\_id' OR attname IN ('slug', 'name') OR attname = 'created_by')"
        " AND attname NOT IN ('generated_description_job_id') AND k.collname <> 'C'"
    )
    assert loose is None


async def test_no_value_of_ours_is_kept_in_a_type_that_changes_it(watch: Watch) -> None:
    assert not await watch.value(
        "SELECT count(*) FROM information_schema.columns"
        " WHERE table_schema = 'public' AND data_type IN ('jsonb', 'timestamp without time zone', 'character varying')"
        " AND table_name <> 'alembic_version'"
    )


async def test_each_applied_revision_is_in_the_ledger_with_its_file(watch: Watch) -> None:
    cursor = await watch.session.execute("SELECT id, file, checksum FROM chopin_migrations ORDER BY id")

    files = sorted(ledger.VERSIONS.glob("*.py"))
    assert await cursor.fetchall() == [(file.stem, file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files]


async def test_a_database_of_the_first_version_gets_the_commit_of_this_one(
    blank: ScratchDatabase, beside: Watch, unmigrated: PgStorage
) -> None:
    definition = "SELECT pg_get_functiondef('chopin_commit'::regproc)"
    await unmigrated.migrate()
    fresh = await beside.value(definition)
    await beside.run(
        fresh.replace("'kept'", "'somehow'"),
        f"UPDATE alembic_version SET version_num = '{FIRST}'",
        f"DELETE FROM chopin_migrations WHERE id > '{FIRST}'",
    )
    assert await beside.value(definition) != fresh

    await unmigrated.migrate()

    assert await beside.value(definition) == fresh


def test_revisions_form_one_line_and_are_named_like_their_files() -> None:
    script = ScriptDirectory(str(ledger.VERSIONS.parent))

    revisions = [revision.revision for revision in script.walk_revisions()]
    assert script.get_heads() == [revisions[0]]
    assert sorted(revisions) == list(ledger.checksums())
    assert all(len(revision) <= 32 for revision in revisions)
    assert all(script.get_revision(revision).doc for revision in revisions)


async def test_migrating_again_changes_nothing(storage: PgStorage, watch: Watch) -> None:
    before = await watch.value("SELECT max(applied_at) FROM chopin_migrations")

    await storage.migrate()
    await storage.health()

    assert await watch.value("SELECT count(*) FROM chopin_migrations") == len(ledger.checksums())
    assert await watch.value("SELECT max(applied_at) FROM chopin_migrations") == before


async def test_processes_that_start_at_once_on_an_empty_database_all_succeed(blank: ScratchDatabase, beside: Watch) -> None:
    processes = [await migrating(blank.url) for _ in range(4)]

    errors = [(await process.communicate())[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert await beside.value("SELECT count(*) FROM chopin_migrations") == len(ledger.checksums())


async def test_an_unmigrated_database_is_not_healthy(unmigrated: PgStorage) -> None:
    with pytest.raises(CorruptRecord) as caught:
        await unmigrated.health()
    assert caught.value.reason == f"revision {FIRST} is missing"


async def test_a_file_that_changed_after_it_was_applied_is_corruption(storage: PgStorage, watch: Watch) -> None:
    await watch.run(f"UPDATE chopin_migrations SET checksum = 'other' WHERE id = '{HEAD}'")

    for call in (storage.migrate, storage.health):
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.reason == f"revision {HEAD} was changed after it was applied"


async def test_a_database_of_a_newer_version_is_refused_by_name(storage: PgStorage, watch: Watch) -> None:
    await watch.run(
        "INSERT INTO chopin_migrations (id, file, checksum) VALUES ('0999_future', '0999_future.py', '')",
        "UPDATE alembic_version SET version_num = '0999_future'",
    )

    for call in (storage.migrate, storage.health):
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.reason == "revision 0999_future is unknown to this version"


async def test_a_revision_applied_without_a_record_is_refused(storage: PgStorage, watch: Watch) -> None:
    await watch.run("UPDATE alembic_version SET version_num = '0999_future'")

    with pytest.raises(CorruptRecord) as caught:
        await storage.migrate()
    assert caught.value.reason == "revision 0999_future is applied but not recorded"


async def test_a_record_that_is_missing_is_corruption(storage: PgStorage, watch: Watch) -> None:
    await watch.run("DELETE FROM chopin_migrations")

    with pytest.raises(CorruptRecord):
        await storage.migrate()
    with pytest.raises(CorruptRecord) as caught:
        await storage.health()
    assert caught.value.reason == f"revision {FIRST} is missing"


async def test_a_table_of_somebody_else_is_not_built_around(unmigrated: PgStorage, beside: Watch) -> None:
    await beside.run("CREATE TABLE users (id text)")

    with pytest.raises(CorruptRecord) as caught:
        await unmigrated.migrate()
    assert caught.value.reason == "table users was not made by Chopin"
    assert await tables(beside) == 1


async def test_a_revision_that_fails_halfway_leaves_nothing(unmigrated: PgStorage, beside: Watch) -> None:
    await beside.run(LAST_OBSTACLE)

    with pytest.raises(StorageUnavailable):
        await unmigrated.migrate()
    assert await tables(beside) == 0

    await beside.run("DROP FUNCTION chopin_commit")
    await unmigrated.migrate()
    await unmigrated.health()


async def test_a_process_killed_in_the_middle_leaves_nothing(
    unmigrated: PgStorage, blank: ScratchDatabase, beside: Watch
) -> None:
    async with await psycopg.AsyncConnection.connect(blank.url) as obstacle:
        # The tables are made before the function; this one stands in its way until it is known to be gone.
        await obstacle.execute(LAST_OBSTACLE.encode())
        process = await migrating(blank.url)
        await beside.until_waiting()
        process.kill()
        await process.communicate()
        await obstacle.rollback()
    await beside.until("SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'")

    assert await tables(beside) == 0
    await unmigrated.migrate()
    await unmigrated.health()


async def test_a_database_that_cannot_hold_every_text_is_refused(server: ScratchServer) -> None:
    name = "chopin_test_latin"
    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as admin:
        await admin.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'".encode()
        )
        try:
            with pytest.raises(InvalidField) as caught:
                await open_storage(with_database(server.url, name))
            assert str(caught.value) == "DATABASE_URL names a database whose encoding is not UTF8"
        finally:
            await admin.execute(f"DROP DATABASE {name}".encode())


def test_alembic_knows_our_revisions_and_no_database() -> None:
    alembic = [sys.executable, "-m", "alembic", "-c", str(TOP / "alembic.ini")]

    heads = subprocess.run([*alembic, "heads"], capture_output=True, text=True, check=True)
    upgrade = subprocess.run([*alembic, "upgrade", "head"], capture_output=True, text=True, check=False)

    assert heads.stdout.strip() == f"{HEAD} (head)"
    assert upgrade.returncode != 0
    assert "chopin migrate" in upgrade.stdout + upgrade.stderr
