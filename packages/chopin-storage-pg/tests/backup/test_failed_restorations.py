"""Where a backup cannot come back, or does not come back as it was, nothing of it is left."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from chopin_core.errors import CorruptRecord
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import DUMP, MANIFEST, Writer, open_backup
from chopin_storage_pg.backup.loading import load
from chopin_storage_pg.backup.programs import find_programs
from chopin_storage_pg.backup.restoring import Restored
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.testing import ScratchDatabase

from .database import contents, execute, relations, restored, silent


def rewritten(backup: Path, target: Path, *, manifest: dict[str, Any] | None = None, dump: bytes | None = None) -> Path:
    """The same backup with another manifest or dump, and with right checksums."""
    opened = open_backup(backup)
    with target.open("w+b") as file:
        writer = Writer(file, 0)
        for name, content in (
            (MANIFEST, opened.manifest.encoded() if manifest is None else json.dumps(manifest).encode()),
            (DUMP, b"".join(opened.dump()) if dump is None else dump),
        ):
            writer.begin(name)
            writer.write(content)
            writer.end()
        writer.finish()
    return target


def manifest_of(backup: Path) -> dict[str, Any]:
    given: dict[str, Any] = json.loads(open_backup(backup).manifest.encoded())
    return given


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("CREATE TABLE accounts ()", "table public.accounts"),
        ("CREATE SCHEMA other CREATE VIEW v AS SELECT 1", "table other.v"),
        ("CREATE FUNCTION chopin_commit() RETURNS int LANGUAGE sql AS 'SELECT 1'", "function chopin_commit()"),
    ],
    ids=["a table", "a view elsewhere", "a function"],
)
async def test_a_database_that_is_not_empty_is_refused_and_left_alone(
    backup: Path, empty: ScratchDatabase, statement: str, named: str
) -> None:
    await execute(empty.url, statement)
    before = await relations(empty.url)
    with pytest.raises(BackupFailed) as refused:
        await restored(empty.url, backup)
    assert named in str(refused.value)
    assert await relations(empty.url) == before


async def test_a_database_of_ours_is_never_restored_over(database: ScratchDatabase, backup: Path) -> None:
    before = await contents(database.url)
    with pytest.raises(BackupFailed, match="is not empty"):
        await restored(database.url, backup)
    assert await contents(database.url) == before


async def test_a_backup_of_a_newer_schema_is_refused_before_anything_is_written(
    backup: Path, tmp_path: Path, empty: ScratchDatabase
) -> None:
    manifest = manifest_of(backup)
    manifest["ledger"].append({**manifest["ledger"][-1], "id": "9999_later", "file": "9999_later.py"})
    with pytest.raises(BackupFailed, match=r"newer version of Chopin .*9999_later"):
        await restored(empty.url, rewritten(backup, tmp_path / "newer.chopin", manifest=manifest))
    manifest = manifest_of(backup)
    manifest["ledger"][0]["checksum"] = "0"
    with pytest.raises(BackupFailed, match="not this version's"):
        await restored(empty.url, rewritten(backup, tmp_path / "changed.chopin", manifest=manifest))
    manifest = {**manifest_of(backup), "version": 2}
    with pytest.raises(BackupFailed, match="newer version of Chopin"):
        await restored(empty.url, rewritten(backup, tmp_path / "format.chopin", manifest=manifest))
    assert await relations(empty.url) == []


@pytest.mark.parametrize("changed", ["hash", "revision", "sequence", "one more", "one less"])
async def test_a_channel_that_does_not_come_back_as_it_was_leaves_the_database_empty(
    backup: Path, tmp_path: Path, empty: ScratchDatabase, changed: str
) -> None:
    manifest = manifest_of(backup)
    channel = next(one for one in manifest["channels"] if one["id"] == "journal")
    match changed:
        case "one more":
            manifest["channels"].append({**channel, "id": "zz"})
        case "one less":
            manifest["channels"].remove(channel)
        case "hash":
            channel["hash"] = "sha256:" + hashlib.sha256(b"# journal\n").hexdigest()
        case counter:
            channel[counter] += 1
    with pytest.raises(BackupFailed, match="1 channels differ: " + ("zz" if changed == "one more" else "journal")):
        await restored(empty.url, rewritten(backup, tmp_path / "other.chopin", manifest=manifest))
    assert await relations(empty.url) == []
    await restored(empty.url, backup)  # and the right one can be had after all


async def test_a_dump_that_ends_halfway_leaves_the_database_empty(backup: Path, tmp_path: Path, empty: ScratchDatabase) -> None:
    dump = b"".join(open_backup(backup).dump())
    for share in (0.5, 0.8, 0.97):
        short = rewritten(backup, tmp_path / f"{share}.chopin", dump=dump[: int(len(dump) * share)])
        with pytest.raises(BackupFailed, match=r"^pg_restore failed"):
            await restored(empty.url, short)
        assert await relations(empty.url) == []


async def test_nobody_serves_a_database_whose_restoration_was_cut_short(backup: Path, empty: ScratchDatabase) -> None:
    # As if the process had been killed between its two transactions.
    connections = Connections(empty.url)
    await load(empty.url, open_backup(backup), connections=connections, programs=await find_programs(None), told=silent)
    await connections.close()
    async with await empty.connect() as half:
        for start in (half.migrate, half.health):
            with pytest.raises(CorruptRecord):
                await start()
    with pytest.raises(BackupFailed, match="is not empty"):
        await restored(empty.url, backup)


@pytest.mark.parametrize("stage", ["filling the database, in bytes", "checking channels"])
async def test_a_restoration_that_is_interrupted_leaves_the_database_empty(
    backup: Path, empty: ScratchDatabase, stage: str
) -> None:
    restoring: list[asyncio.Task[Restored]] = []

    def told(what: str, done: int, total: int) -> None:
        if what == stage:
            restoring[0].cancel()  # what Ctrl-C does

    restoring.append(asyncio.create_task(restored(empty.url, backup, told)))
    with pytest.raises(asyncio.CancelledError):
        await restoring[0]
    assert await relations(empty.url) == []
