"""PostgreSQL for tests: the adapter that the shared contract suite opens, and empty databases for tests of our own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import attrs
import psycopg
from psycopg import sql

from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.tables import chopin_migrations, metadata

SERVER: Final = "CHOPIN_TEST_DATABASE_URL"
"""Names a server to test on, by the URL of a database whose user may create others. Without it one is started for the run."""

_PREFIX: Final = "chopin-test-"


@attrs.frozen
class ScratchDatabase:
    """A database that belongs to one test."""

    url: str = attrs.field(repr=False)

    async def connect(self) -> PgStorage:
        return await open_storage(self.url)


@attrs.frozen
class ScratchServer:
    """A server on which databases come and go."""

    url: str = attrs.field(repr=False)
    template: str
    name: str
    _emptied: list[ScratchDatabase] = attrs.field(factory=list, repr=False)

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[ScratchDatabase]:
        """
        A database with our schema and no row. It is emptied afterwards and given out again.

        Making and dropping a database has the server write everything it holds to disk, a hundred times the work of emptying
        a small one. A test that changes the schema takes :meth:`copied` instead.
        """
        database = self._emptied.pop() if self._emptied else await asyncio.to_thread(self._create, self.template)
        try:
            yield database
        finally:
            await asyncio.to_thread(_empty, database)
            self._emptied.append(database)

    @asynccontextmanager
    async def copied(self) -> AsyncIterator[ScratchDatabase]:
        """A database with our schema and no row, dropped afterwards whatever became of it."""
        async with self._dropped(self.template) as database:
            yield database

    @asynccontextmanager
    async def blank(self) -> AsyncIterator[ScratchDatabase]:
        """A database without a table, dropped afterwards."""
        async with self._dropped("template0") as database:
            yield database

    def drop_emptied(self) -> None:
        for database in self._emptied:
            self._drop(database)

    @asynccontextmanager
    async def _dropped(self, template: str) -> AsyncIterator[ScratchDatabase]:
        database = await asyncio.to_thread(self._create, template)
        try:
            yield database
        finally:
            await asyncio.to_thread(self._drop, database)

    def _create(self, template: str) -> ScratchDatabase:
        name = f"chopin_test_{secrets.token_hex(6)}"
        _run(self.url, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
        return ScratchDatabase(with_database(self.url, name))

    def _drop(self, database: ScratchDatabase) -> None:
        _run(self.url, "DROP DATABASE {} WITH (FORCE)", urlsplit(database.url).path.removeprefix("/"))


def _empty(database: ScratchDatabase) -> None:
    with psycopg.connect(database.url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        for table in reversed(metadata.sorted_tables):
            if table is not chopin_migrations:
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))


@contextmanager
def open_server() -> Iterator[ScratchServer]:
    """
    A server with a migrated template, for a whole run: the one that :data:`SERVER` names, else one of our own.

    Raises:
        Unavailable: there is no server. A run without PostgreSQL fails; it is not a shorter run.
    """
    named = os.environ.get(SERVER)
    if named:
        with _templated(named) as server:
            yield server
        return
    _discard_abandoned()
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres.start(Path(folder)) as embedded,
        _templated(embedded.url) as server,
    ):
        yield server


open_adapter = open_server
"""What the shared contract suite asks of an adapter."""


def _discard_abandoned() -> None:
    """A run that was killed could not stop its server; the next one does."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # another person's
            EmbeddedPostgres.discard(folder)


def with_database(url: str, name: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@contextmanager
def _templated(url: str) -> Iterator[ScratchServer]:
    template = f"chopin_template_{secrets.token_hex(6)}"
    _run(url, "CREATE DATABASE {}", template)
    try:
        asyncio.run(_migrated(with_database(url, template)))
        with psycopg.connect(url) as connection:
            version = connection.info.parameter_status("server_version") or "?"
        server = ScratchServer(url=url, template=template, name=f"postgres {version.partition(' ')[0]}")
        try:
            yield server
        finally:
            server.drop_emptied()
    finally:
        _run(url, "DROP DATABASE {} WITH (FORCE)", template)


async def _migrated(url: str) -> None:
    async with await open_storage(url) as storage:
        await storage.migrate()


def _run(url: str, statement: str, *names: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
