"""What every contract test starts from: an adapter, an empty database of it, and one storage or more on that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TypeAlias

import pytest
import pytest_asyncio

from chopin_contract_tests.adapters import Database, Databases
from chopin_contract_tests.builders import AUTHOR, T0, creation
from chopin_contract_tests.plugin import TALLY, Chosen
from chopin_contract_tests.races import WRITERS
from chopin_core.channel import Channel
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.ports.storage import Storage

Connect: TypeAlias = Callable[[], Awaitable[Storage]]


@pytest.fixture(scope="session")
def adapter(request: pytest.FixtureRequest) -> Iterator[Databases]:
    """The adapter under test, opened once for all its tests."""
    chosen: Chosen = request.param
    with chosen.load()() as databases:
        request.config.stash[TALLY].names[chosen.label] = databases.name
        yield databases


@pytest_asyncio.fixture(loop_scope="function")
async def database(adapter: Databases) -> AsyncIterator[Database]:
    """An empty database that nobody else uses."""
    async with adapter.fresh() as database:
        yield database


@pytest_asyncio.fixture(loop_scope="function")
async def connect(database: Database) -> AsyncIterator[Connect]:
    """Opens one more storage on the database, as another process would."""
    async with AsyncExitStack() as opened:

        async def another() -> Storage:
            storage = await database.connect()
            opened.push_async_callback(storage.close)
            return storage

        yield another


@pytest_asyncio.fixture(loop_scope="function")
async def storage(connect: Connect) -> Storage:
    """A storage on the empty database, which knows :data:`AUTHOR` and nothing else."""
    storage = await connect()
    await storage.users.put(AUTHOR, now=T0)
    return storage


@pytest_asyncio.fixture(loop_scope="function")
async def sides(storage: Storage, connect: Connect) -> list[Storage]:
    """One storage per writer, though there are but two: as many writers in each of two processes."""
    return [storage, await connect()] * (WRITERS // 2)


@pytest_asyncio.fixture(loop_scope="function")
async def channel(storage: Storage) -> Channel:
    """A channel in which nothing was written yet."""
    return await storage.channels.create(creation())


@pytest_asyncio.fixture(loop_scope="function")
async def lease(storage: Storage) -> Lease:
    """The writer lease, held for longer than any test lasts."""
    lease = await storage.leases.acquire(WRITER, "suite", timedelta(minutes=10))
    assert lease is not None
    return lease


@pytest_asyncio.fixture(loop_scope="function")
async def expired(storage: Storage) -> Lease:
    """A lease that was granted, and ran out."""
    lease = await storage.leases.acquire("short", "suite", timedelta(milliseconds=20))
    assert lease is not None
    await asyncio.sleep(0.03)
    return lease
