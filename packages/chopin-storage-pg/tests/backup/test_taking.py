"""Taking a backup: one state of the database, in a file that is whole or not there."""

from __future__ import annotations

import asyncio
import resource
import shlex
import stat
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

from chopin_core.ports.leases import Lease
from chopin_storage_pg import engine
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import open_backup
from chopin_storage_pg.backup.programs import Programs, client_environment, find_programs
from chopin_storage_pg.backup.restoring import restore_backup
from chopin_storage_pg.backup.taking import take_backup
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from .database import ENGINE, backed_up, execute, fill, restored, silent, write_on


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_manifest_and_dump_are_of_one_state_whatever_is_written_meanwhile(
    storage: PgStorage, database: ScratchDatabase, held: Lease, tmp_path: Path, empty: ScratchDatabase
) -> None:
    writing: list[asyncio.Task[None]] = []
    written = asyncio.Event()

    async def write() -> None:
        await write_on(storage, held, "journal", *(f"[{number}]" for number in range(20)))
        await execute(database.url, "DELETE FROM channels WHERE id = 'plain'")
        written.set()

    def told(what: str, done: int, total: int) -> None:
        if not writing:
            writing.append(asyncio.create_task(write()))

    manifest = await backed_up(database.url, tmp_path / "one.chopin", told)
    assert written.is_set(), "nobody wrote while the backup was taken"
    assert {str(one.channel_id): one.revision for one in manifest.channels}["journal"] == 2
    done = await restored(empty.url, tmp_path / "one.chopin")
    assert done.manifest == manifest


async def test_a_backup_is_for_its_owner_alone_and_nothing_else_is_left(
    database: ScratchDatabase, held: Lease, tmp_path: Path
) -> None:
    target = tmp_path / "one.chopin"
    manifest = await backed_up(database.url, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(tmp_path) == [target.name]
    assert open_backup(target).manifest == manifest
    assert [one.channel_id for one in manifest.channels] == ["child", "journal", "plain", "put-away", "unopened"]


async def test_what_has_the_name_already_is_never_overwritten(database: ScratchDatabase, held: Lease, tmp_path: Path) -> None:
    target = tmp_path / "one.chopin"
    target.write_text("yesterday's")
    with pytest.raises(BackupFailed, match="exists already"):
        await backed_up(database.url, target)
    target.unlink()

    def told(what: str, done: int, total: int) -> None:
        target.write_text("somebody else's")  # while ours is being made

    with pytest.raises(BackupFailed, match="exists already"):
        await backed_up(database.url, target, told)
    assert target.read_text() == "somebody else's"
    assert names(tmp_path) == [target.name]


async def test_a_place_that_cannot_be_written_is_named(database: ScratchDatabase, held: Lease, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="cannot be written: No such file or directory"):
        await backed_up(database.url, tmp_path / "nowhere" / "one.chopin")


async def test_without_space_there_is_no_file(database: ScratchDatabase, held: Lease, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))  # to a writer, a disk that is full
    try:
        with pytest.raises(BackupFailed, match="cannot be written"):
            await backed_up(database.url, tmp_path / "one.chopin")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(tmp_path) == []


async def test_a_database_without_our_schema_is_not_backed_up(empty: ScratchDatabase, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="is empty"):
        await backed_up(empty.url, tmp_path / "one.chopin")
    await execute(empty.url, "CREATE TABLE accounts ()")
    with pytest.raises(BackupFailed, match="was not made by Chopin"):
        await backed_up(empty.url, tmp_path / "one.chopin")
    assert names(tmp_path) == []


async def test_programs_older_than_the_server_are_refused_before_anything_is_written(
    database: ScratchDatabase, held: Lease, tmp_path: Path
) -> None:
    programs = Programs(directory=Path("/opt/old"), major=14)
    with pytest.raises(BackupFailed, match=r"^/opt/old/pg_dump is of version 14 and the server of 1[5-9].*--pg-bin"):
        await take_backup(database.url, tmp_path / "one.chopin", engine=ENGINE, programs=programs, told=silent)
    assert names(tmp_path) == []


async def test_a_directory_of_programs_may_be_named_from_where_one_is(
    database: ScratchDatabase, held: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").symlink_to((await find_programs(None)).directory)
    monkeypatch.chdir(tmp_path)
    programs = await find_programs(Path("bin"))
    await take_backup(database.url, tmp_path / "one.chopin", engine=ENGINE, programs=programs, told=silent)


async def test_programs_that_are_not_there_or_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="cannot be run"):
        await find_programs(tmp_path)
    for number, name in enumerate(("pg_dump", "pg_restore", "psql")):
        script(tmp_path / name, f"echo '{name} (PostgreSQL) 1{number}.1'")
    with pytest.raises(BackupFailed, match="different versions: 10, 11, 12"):
        await find_programs(tmp_path)


def script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o700)


async def test_no_password_is_among_the_words_of_a_program(
    database: ScratchDatabase, held: Lease, tmp_path: Path, empty: ScratchDatabase
) -> None:
    password = conninfo_to_dict(database.url)["password"]
    assert isinstance(password, str) and len(password) > 10
    real = await find_programs(None)
    words = tmp_path / "words"
    (tmp_path / "bin").mkdir()
    for name in ("pg_dump", "pg_restore", "psql"):
        program = shlex.quote(str(real.directory / name))
        script(tmp_path / "bin" / name, f'echo {name} "$@" >> {words}\nexec {program} "$@"')
    programs = await find_programs(tmp_path / "bin")
    target = tmp_path / "one.chopin"
    await take_backup(database.url, target, engine=ENGINE, programs=programs, told=silent)
    await restore_backup(empty.url, target, engine=ENGINE, programs=programs, told=silent)
    said = words.read_text()
    assert {"pg_dump", "pg_restore", "psql"} <= set(said.split())
    assert password not in said
    assert password.encode() not in target.read_bytes()


def test_every_part_of_an_address_reaches_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("PGSSLROOTCERT", "/etc/ca.pem")
    password = "p@ss'\\ w/ö"
    found = client_environment(f"postgresql://ada:{quote(password, safe='')}@db.internal:6000/notes?sslmode=verify-full")
    assert (found["PGHOST"], found["PGPORT"], found["PGUSER"], found["PGDATABASE"]) == ("db.internal", "6000", "ada", "notes")
    assert (found["PGPASSWORD"], found["PGSSLMODE"], found["PGSSLROOTCERT"]) == (password, "verify-full", "/etc/ca.pem")
    assert "DATABASE_URL" not in found


async def test_a_program_that_fails_is_quoted_without_a_value_and_leaves_no_file(
    database: ScratchDatabase, held: Lease, tmp_path: Path
) -> None:
    real = await find_programs(None)
    (tmp_path / "bin").mkdir()
    for name in ("pg_restore", "psql"):
        (tmp_path / "bin" / name).symlink_to(real.directory / name)
    script(
        tmp_path / "bin" / "pg_dump",
        f"[ $1 = --version ] && exec {real.directory / 'pg_dump'} --version\n"
        "printf half; printf 'warm up\\npg_dump: error: out of order\\nDETAIL: dear diary\\n' >&2; exit 1",
    )
    with pytest.raises(BackupFailed) as failed:
        programs = await find_programs(tmp_path / "bin")
        await take_backup(database.url, tmp_path / "one.chopin", engine=ENGINE, programs=programs, told=silent)
    assert str(failed.value) == "pg_dump failed: pg_dump: error: out of order"
    assert names(tmp_path) == ["bin"]


async def test_a_channel_whose_rows_cannot_be_read_costs_no_other(server: ScratchServer, tmp_path: Path) -> None:
    # As with a page that the disk lost: the server itself refuses to give the rows out.
    torn = """
        ALTER TABLE channel_snapshots RENAME TO kept;
        CREATE FUNCTION torn(id text, document bytea) RETURNS bytea LANGUAGE plpgsql AS
            $$BEGIN IF id = 'plain' THEN RAISE data_corrupted; END IF; RETURN document; END$$;
        CREATE VIEW channel_snapshots AS SELECT channel_id, generation, revision, through_sequence, epoch, source, source_hash,
            torn(channel_id, document) AS document, sidecar, created_at FROM kept
        """
    async with server.copied() as database:
        async with await database.connect() as storage:
            await fill(storage)
        await execute(database.url, torn)
        manifest = await backed_up(database.url, tmp_path / "one.chopin")
    [fault] = manifest.unrecoverable
    assert (fault.channel_id, fault.reason) == ("plain", "channel plain: its rows cannot be read (XX001)")
    assert len(manifest.channels) == 4


async def test_a_dump_may_take_longer_than_any_other_transaction_may_be_idle(
    database: ScratchDatabase, held: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chopin_storage_pg.engine._SETTINGS", engine._SETTINGS.replace("'10s'", "'200ms'"))
    real = await find_programs(None)
    (tmp_path / "bin").mkdir()
    for name, pause in (("pg_dump", "1"), ("pg_restore", "0"), ("psql", "0")):
        script(tmp_path / "bin" / name, f'[ "$1" = --version ] || sleep {pause}\nexec {real.directory / name} "$@"')
    programs = await find_programs(tmp_path / "bin")
    target = tmp_path / "one.chopin"
    manifest = await take_backup(database.url, target, engine=ENGINE, programs=programs, told=silent)
    assert len(manifest.channels) == 5
