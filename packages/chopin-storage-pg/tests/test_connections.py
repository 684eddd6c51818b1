from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import psycopg
import pytest

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision
from chopin_core.errors import InvalidField, StorageUnavailable
from chopin_core.ids import UserId
from chopin_core.ports.leases import Lease
from chopin_storage_pg import engine
from chopin_storage_pg.hazards import hazards
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from made import ADA, NOW, commit
from watch import Session, Watch

SECRET = "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://u:{SECRET}@h/d",
        f"sqlite:///{SECRET}",
        f"postgresql+asyncpg://u:{SECRET}@h/d",
        f"POSTGRES//u:{SECRET}@h/d",
        f"postgres://u:{SECRET}@h/d?nonsense={SECRET}",
        f"postgres://u:{SECRET}@[::1/d",
        f"postgres://u:{SECRET}\ud800@h/d",
        f"host=h password={SECRET}",
        "",
    ],
)
async def test_another_url_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(InvalidField) as caught:
        await open_storage(url)

    assert caught.value.field == "DATABASE_URL"
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_both_names_of_the_scheme_are_taken(scheme: str) -> None:
    parameters = engine.connection_parameters(f"{scheme}://u:p%20w@h:1/d?sslmode=disable&connect_timeout=3")

    for given in ("user=u", "password='p w'", "host=h", "port=1", "dbname=d", "sslmode=disable", "connect_timeout=3"):
        assert given in parameters.split(" ") or given in parameters


async def test_a_server_that_is_not_there_is_unavailable_and_not_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(StorageUnavailable) as caught:
        await open_storage(f"postgres://u:{SECRET}@127.0.0.1:1/d")

    assert caught.value.cause == "OperationalError"
    assert caught.value.__suppress_context__
    assert SECRET not in caplog.text


async def test_nothing_that_can_be_printed_shows_the_password() -> None:
    url = f"postgres://somebody:{SECRET}@somewhere/something"
    storage = PgStorage(url)
    connections = storage._connections

    for thing in (storage, connections, connections._engine, connections._engine.url, ScratchDatabase(url)):
        assert SECRET not in repr(thing) + str(thing)
    await storage.close()


async def test_sessions_that_the_server_ended_meanwhile_are_not_noticed_by_callers(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch
) -> None:
    first = commit(channel)
    await storage.collaboration.commit(first, lease=lease)
    await storage.leases.renew(lease, timedelta(minutes=10))

    for revision in (1, 2):
        await watch.end_all_sessions()

        assert await storage.users.get(ADA.id) is not None
        result = await storage.collaboration.commit(commit(channel, expected=StorageRevision(revision)), lease=lease)
        assert result.repeated is False
        assert await storage.leases.renew(lease, timedelta(minutes=10)) is not None
        assert await storage.collaboration.load(channel.id) is not None


async def test_reads_that_use_up_the_pool_do_not_hold_up_commits_and_renewals(
    storage: PgStorage, channel: Channel, lease: Lease, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
    readers = [asyncio.create_task(storage.users.get(ADA.id)) for _ in range(engine.POOL_SIZE + 2)]
    await watch.until_waiting(engine.POOL_SIZE)

    async with asyncio.timeout(5):
        await storage.collaboration.commit(commit(channel), lease=lease)
        assert await storage.leases.renew(lease, timedelta(minutes=10)) is not None

    await obstacle.rollback()
    assert {user.person for user in await asyncio.gather(*readers) if user} == {ADA}


async def test_waiting_for_the_pool_ends(
    database: ScratchDatabase, storage: PgStorage, obstacle: Session, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "POOL_SIZE", 1)
    monkeypatch.setattr(engine, "CONNECT_SECONDS", 0.2)
    async with await database.connect() as narrow:
        await obstacle.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
        reader = asyncio.create_task(narrow.users.get(ADA.id))
        await watch.until_waiting()

        with pytest.raises(StorageUnavailable) as caught:
            await narrow.users.get(ADA.id)
        assert caught.value.cause == "TimeoutError"

        await obstacle.rollback()
        assert await reader is not None


async def test_a_transaction_left_open_by_a_vanished_client_is_ended_by_the_server(
    database: ScratchDatabase,
) -> None:
    connections = engine.Connections(database.url)
    async with connections.begin() as connection:
        driver = await engine.driver_of(connection)
        cursor = await driver.execute("SHOW idle_in_transaction_session_timeout")
        assert await cursor.fetchone() == ("10s",)
    await connections.close()


async def test_a_closed_storage_is_unavailable(storage: PgStorage, channel: Channel, lease: Lease) -> None:
    await storage.collaboration.commit(commit(channel), lease=lease)
    await storage.leases.renew(lease, timedelta(minutes=10))
    await storage.close()
    await storage.close()

    for call in (
        lambda: storage.users.get(UserId("ada")),
        lambda: storage.users.put(ADA, now=NOW),
        lambda: storage.channels.get(channel.id),
        lambda: storage.collaboration.load(channel.id),
        lambda: storage.collaboration.commit(commit(channel), lease=lease),
        lambda: storage.collaboration.operation(channel.id, commit(channel).operation_id),
        lambda: storage.leases.renew(lease, timedelta(minutes=10)),
        storage.health,
        storage.migrate,
    ):
        with pytest.raises(StorageUnavailable) as caught:
            await call()
        assert caught.value.cause == "Closed"


@pytest.mark.parametrize(("set_by_the_operator", "ours"), [("off", "on"), ("remote_apply", "remote_apply"), ("local", "local")])
async def test_a_commit_waits_for_the_disk_whatever_the_database_is_set_to(
    server: ScratchServer, set_by_the_operator: str, ours: str
) -> None:
    async with server.copied() as database, await psycopg.AsyncConnection.connect(database.url, autocommit=True) as operator:
        name = operator.info.dbname
        await operator.execute(f"ALTER DATABASE {name} SET synchronous_commit = {set_by_the_operator}".encode())
        async with await database.connect() as storage:
            connection = await storage._connections.connect()
            cursor = await connection.execute("SHOW synchronous_commit")
            assert await cursor.fetchone() == (ours,)
            await connection.close()


async def test_a_server_that_keeps_what_it_commits_has_no_hazards(storage: PgStorage) -> None:
    assert await storage.inspection.hazards() == ()


def test_a_server_that_may_lose_what_it_commits_is_told_of() -> None:
    assert hazards({"fsync": "off", "full_page_writes": "on"}) == ("fsync is off: commits are not forced to disk",)
    assert len(hazards({"fsync": "off", "full_page_writes": "off"})) == 2
