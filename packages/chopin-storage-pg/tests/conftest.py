"""A server for the run, an empty database for each test, a storage on it, and a session to look at it or stand in its way."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import psycopg
import pytest

from chopin_core.channel import Channel
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer, open_server

from evidence import rows_of
from made import ADA, NOW, creation, initial
from stage import Stage
from storage_calls import Call, staged
from watch import Session, Watch
from wire import Wire, wire_to


@pytest.fixture(scope="session")
def server() -> Iterator[ScratchServer]:
    with open_server() as server:
        yield server


@pytest.fixture
async def database(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """An empty database of the current schema. A module whose tests change the schema has its own, made by ``copied``."""
    async with server.fresh() as database:
        yield database


@pytest.fixture
async def watch(database: ScratchDatabase) -> AsyncIterator[Watch]:
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as session:
        yield Watch(session)


@pytest.fixture
async def obstacle(database: ScratchDatabase) -> AsyncIterator[Session]:
    """A session in a transaction of its own, to hold locks with; ``rollback`` and ``commit`` let them go."""
    async with await psycopg.AsyncConnection.connect(database.url) as session:
        yield session
        await session.rollback()


@pytest.fixture
async def storage(database: ScratchDatabase) -> AsyncIterator[PgStorage]:
    async with await database.connect() as storage:
        await storage.users.put(ADA, now=NOW)
        yield storage


@pytest.fixture
async def wire(database: ScratchDatabase) -> AsyncIterator[Wire]:
    async with wire_to(database.url) as wire:
        yield wire


@pytest.fixture
async def far(wire: Wire) -> AsyncIterator[PgStorage]:
    """A storage at the other end of the wire."""
    async with await open_storage(wire.url) as storage:
        yield storage


@pytest.fixture
async def channel(storage: PgStorage) -> Channel:
    return await storage.channels.create(creation("one", initial=initial()))


@pytest.fixture
async def lease(storage: PgStorage) -> Lease:
    lease = await storage.leases.acquire("writer", "tests", timedelta(minutes=10))
    assert lease is not None
    return lease


@pytest.fixture
async def stage(call: Call, storage: PgStorage, wire: Wire, lease: Lease, watch: Watch) -> Stage:
    """A stage for the call that a test is parametrized with."""
    names = (f"x{number:04}x" for number in itertools.count())  # none is a part of another
    model, other = [await staged(storage, next(names), lease) for _ in range(2)]
    if call.before is not None:
        await call.before(storage, model)
    rows = await rows_of(watch, model)
    return Stage(call=call, near=storage, wire=wire, watch=watch, model=model, rows=rows, other=other, names=names)
