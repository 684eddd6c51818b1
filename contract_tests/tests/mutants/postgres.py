"""The PostgreSQL adapter with passages of ``chopin_commit`` exchanged for others, with a faulty store, or without a lock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import ModuleType

import attrs
import psycopg
import pytest

from chopin_contract_tests.adapters import OpenAdapter
from chopin_storage_pg.collaboration import PgCollaborationStore
from chopin_storage_pg.functions import COMMIT
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer, open_server, with_database


def with_passages(*exchanged: tuple[str, str]) -> OpenAdapter:
    """
    The adapter on databases whose ``chopin_commit`` has the second text of each pair in place of the first.

    A passage that is not there any more, or more than once, is no mutant: the adapter then cannot be opened.
    """

    @contextmanager
    def open_adapter() -> Iterator[ScratchServer]:
        statement = COMMIT
        for passage, other in exchanged:
            assert statement.count(passage) == 1, f"chopin_commit does not hold exactly once: {passage}"
            statement = statement.replace(passage, other)
        with open_server() as server:
            with psycopg.connect(with_database(server.url, server.template)) as connection:
                connection.execute(statement.encode())
            yield server

    return open_adapter


def with_attribute(module: ModuleType, name: str, value: object) -> OpenAdapter:
    """The adapter as it is when a module of it says something else. For the whole process: a mutant has one of its own."""

    @contextmanager
    def open_adapter() -> Iterator[ScratchServer]:
        with open_server() as server, pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, value)
            yield server

    return open_adapter


def with_collaboration(store: type[PgCollaborationStore]) -> OpenAdapter:
    @contextmanager
    def open_adapter() -> Iterator[MutatedServer]:
        with open_server() as server:
            yield MutatedServer(server, store)

    return open_adapter


@attrs.frozen
class MutatedServer:
    server: ScratchServer
    store: type[PgCollaborationStore]

    @property
    def name(self) -> str:
        return f"{self.server.name}, mutated"

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[MutatedDatabase]:
        async with self.server.fresh() as database:
            yield MutatedDatabase(database, self.store)


@attrs.frozen
class MutatedDatabase:
    database: ScratchDatabase
    store: type[PgCollaborationStore]

    async def connect(self) -> PgStorage:
        storage = await self.database.connect()
        sound = storage._collaboration
        storage._collaboration = self.store(sound._connections, sound._grouped, sound._outcomes)
        return storage


faultless = with_passages()
