"""What comes back from a backup: everything, as a history of its own."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from chopin_core.errors import LeaseLost
from chopin_core.ids import ChannelId, MachineId
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.room.recovery import recover
from chopin_storage_pg import ledger, trigrams
from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.programs import find_programs
from chopin_storage_pg.backup.restoring import Restored, restore_backup
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.tables import metadata
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from .database import ENGINE, asked, backed_up, contents, execute, relations, restored, silent, write_on
from made import ADA, NOW, commit
from stores import web_session

RENEWED = {"channel_snapshots", "channel_updates", "storage_leases", "web_sessions", "machines"}
SHAPE = Path(__file__).parent.parent / "shapes" / "0001_baseline.sql"


async def texts(storage: PgStorage) -> dict[str, str | None]:
    found = {}
    for id in ("plain", "journal", "put-away", "child", "unopened"):
        stored = await storage.collaboration.load(ChannelId(id))
        assert stored is not None
        recovered = recover(stored, ENGINE)
        found[id] = None if recovered is None else recovered.live.text
    return found


async def test_everything_comes_back_but_epochs_leases_sessions_and_machines(
    storage: PgStorage, database: ScratchDatabase, backup: Path, empty: ScratchDatabase
) -> None:
    done = await restored(empty.url, backup)
    assert done.upgrade.applied == ()
    before, after = await contents(database.url), await contents(empty.url)
    assert {name for name in before if before[name] != after[name]} == RENEWED
    assert {name: len(rows) for name, rows in before.items() if name != "web_sessions"} == {
        name: len(rows) for name, rows in after.items() if name != "web_sessions"
    }
    async with await empty.connect() as again:
        assert await texts(again) == await texts(storage)
        assert (await texts(again))["journal"] == "and more # journal\n"
        await again.health()


async def test_every_channel_begins_an_epoch_that_its_journal_shares_and_no_counter_moves(
    storage: PgStorage, backup: Path, empty: ScratchDatabase
) -> None:
    await restored(empty.url, backup)
    epochs = set()
    async with await empty.connect() as again:
        for id in ("plain", "journal", "put-away", "child"):
            was, now = [await one.collaboration.load(ChannelId(id)) for one in (storage, again)]
            assert was is not None and now is not None and was.snapshot is not None and now.snapshot is not None
            assert now.snapshot.epoch != was.snapshot.epoch
            assert {row.epoch for row in now.updates} <= {now.snapshot.epoch}
            assert (now.channel, now.latest, now.sidecar) == (was.channel, was.latest, was.sidecar)
            assert now.snapshot.document == was.snapshot.document
            epochs.add(now.snapshot.epoch)
    assert len(epochs) == 4


async def test_whoever_held_the_lease_writes_nothing_to_what_was_restored(
    storage: PgStorage, held: Lease, backup: Path, empty: ScratchDatabase
) -> None:
    # It was replaced twice since, by itself, as a process whose name stays the same is; and its last self lives on.
    await restored(empty.url, backup)
    minutes = timedelta(minutes=10)
    async with await empty.connect() as again:
        assert await again.leases.holder(WRITER) is None
        channel = await again.channels.get(ChannelId("plain"))
        assert channel is not None
        for fencing in range(held.fencing, held.fencing + 3):
            living = Lease(name=WRITER, owner=held.owner, fencing=fencing, expires_at=held.expires_at)  # type: ignore[arg-type]  # any number
            assert await again.leases.renew(living, minutes) is None
            with pytest.raises(LeaseLost):
                await again.collaboration.commit(commit(channel, expected=channel.revision), lease=living)
        successor = await again.leases.acquire(WRITER, held.owner, minutes)
        assert successor is not None and successor.fencing > held.fencing + 3
        await write_on(again, successor, "journal", "on ")


async def test_nobody_is_signed_in_and_no_machine_is_paired(backup: Path, empty: ScratchDatabase) -> None:
    await restored(empty.url, backup)
    async with await empty.connect() as again:
        assert await again.sessions.get(web_session().id, now=NOW) is None
        assert await asked(empty.url, "SELECT id, revoked_at IS NOT NULL, ciphertext FROM machines") == [
            (MachineId("machine"), True, None)
        ]
        assert await again.users.get(ADA.id) is not None


async def test_a_channel_that_does_not_recover_is_named_and_comes_back_as_it_is(
    database: ScratchDatabase, held: Lease, tmp_path: Path, empty: ScratchDatabase
) -> None:
    await execute(database.url, "UPDATE channel_updates SET epoch = 'another' WHERE sequence = 2")
    target = tmp_path / "one.chopin"
    manifest = await backed_up(database.url, target)
    [fault] = manifest.unrecoverable
    assert (fault.channel_id, len(manifest.channels)) == ("journal", 4)
    assert fault.reason == "channel journal, journal at 2: belongs to another epoch"
    done = await restored(empty.url, target)
    assert done.manifest.unrecoverable == manifest.unrecoverable
    # A journal that did not fit is not made to fit.
    assert [epoch for (epoch,) in await asked(empty.url, "SELECT epoch FROM channel_updates WHERE sequence = 2")] == ["another"]


async def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    server: ScratchServer, tmp_path: Path, empty: ScratchDatabase
) -> None:
    target = tmp_path / "old.chopin"
    async with server.blank() as old:
        await execute(old.url, SHAPE.read_text())
        manifest = await backed_up(old.url, target)
    assert manifest.revision == "0001_baseline"
    done = await restored(empty.url, target)
    assert done.upgrade.before == "0001_baseline"
    assert done.upgrade.after == max(ledger.checksums())
    async with await empty.connect() as again:
        await again.health()


async def test_a_server_that_is_started_meanwhile_waits_until_everything_was_checked(
    backup: Path, empty: ScratchDatabase
) -> None:
    async def start() -> tuple[str, ...]:
        async with await empty.connect() as storage:
            return (await storage.migrate()).applied

    started: list[asyncio.Task[tuple[str, ...]]] = []

    def told(what: str, done: int, total: int) -> None:
        if what.startswith("filling") and not started:
            started.append(asyncio.create_task(start()))
        elif what == "checking channels":
            assert not started[0].done()

    await restored(empty.url, backup, told)
    assert await started[0] == ()


async def test_an_owner_who_may_install_nothing_gets_everything_but_the_index_that_needs_it(
    server: ScratchServer, database: ScratchDatabase, backup: Path, empty: ScratchDatabase
) -> None:
    role = "chopin_test_tenant"
    await execute(server.url, f"CREATE ROLE {role} LOGIN PASSWORD 'tenant'")
    await execute(empty.url, f"ALTER SCHEMA public OWNER TO {role}")
    try:
        address = urlsplit(empty.url)
        await restored(urlunsplit(address._replace(netloc=f"{role}:tenant@{address.netloc.rpartition('@')[2]}")), backup)
        before, after = await relations(database.url), await relations(empty.url)
        assert trigrams.INDEX in before
        assert {table for table in before if table in metadata.tables} <= set(after)
        assert not {trigrams.INDEX, "pg_trgm"} & set(after)
        async with await empty.connect() as again:
            await again.health()
    finally:
        await execute(empty.url, f"REASSIGN OWNED BY {role} TO CURRENT_USER")
        await execute(server.url, f"DROP ROLE {role}")


async def test_of_two_restorations_at_once_one_is_refused_and_spoils_nothing(backup: Path, empty: ScratchDatabase) -> None:
    outcomes = await asyncio.gather(*(restored(empty.url, backup) for _ in range(3)), return_exceptions=True)
    assert len([one for one in outcomes if isinstance(one, Restored)]) == 1
    assert {type(one) for one in outcomes} == {Restored, BackupFailed}
    async with await empty.connect() as again:
        await again.health()
        assert (await texts(again))["journal"] == "and more # journal\n"


async def test_nothing_is_said_that_a_server_before_17_does_not_know(
    backup: Path, tmp_path: Path, empty: ScratchDatabase
) -> None:
    real = await find_programs(None)
    (tmp_path / "bin").mkdir()
    for name in ("pg_dump", "pg_restore"):
        (tmp_path / "bin" / name).symlink_to(real.directory / name)
    psql = tmp_path / "bin" / "psql"
    psql.write_text(f'#!/bin/sh\ntee -a {tmp_path / "said"} | {real.directory / "psql"} "$@"\n')
    psql.chmod(0o700)
    await restore_backup(empty.url, backup, engine=ENGINE, programs=await find_programs(psql.parent), told=silent)
    said = (tmp_path / "said").read_text()
    assert said.startswith("BEGIN;\n") and said.endswith("\nCOMMIT;\n")
    assert "SET idle_in_transaction_session_timeout = 0;" in said
    assert "transaction_timeout = 0;" not in said.replace("idle_in_transaction_session_timeout", "")
