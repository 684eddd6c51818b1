"""PostgreSQL for tests: the adapter that the shared contract suite opens, and empty databases for tests of our own."""

from __future__ import annotations

import asyncio
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

SERVER: Final = "CHOPIN_TEST_DATABASE_URL"
"""Names a server to test on, by the URL of a database whose user may create others. Without it one is started for the run."""


@attrs.frozen
class ScratchDatabase:
    """A database of its own, dropped when the test is over."""

    url: str = attrs.field(repr=False)

    async def connect(self) -> PgStorage:
        return await open_storage(self.url)


@attrs.frozen
class ScratchServer:
    """A server on which databases come and go."""

    url: str = attrs.field(repr=False)
    template: str
    name: str

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[ScratchDatabase]:
        """A database with our schema and no row."""
        async with self.database(self.template) as database:
            yield database

    @asynccontextmanager
    async def database(self, template: str = "template1") -> AsyncIterator[ScratchDatabase]:
        """A database that is a copy of another, by default of none: without any table."""
        name = f"chopin_test_{secrets.token_hex(6)}"
        await asyncio.to_thread(_run, self.url, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
        try:
            yield ScratchDatabase(with_database(self.url, name))
        finally:
            await asyncio.to_thread(_run, self.url, "DROP DATABASE {} WITH (FORCE)", name)


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
    with (
        tempfile.TemporaryDirectory(prefix="chopin-test-", ignore_cleanup_errors=True) as folder,
        EmbeddedPostgres.start(Path(folder)) as embedded,
        _templated(embedded.url) as server,
    ):
        yield server


open_adapter = open_server
"""What the shared contract suite asks of an adapter."""


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
        yield ScratchServer(url=url, template=template, name=f"postgres {version.partition(' ')[0]}")
    finally:
        _run(url, "DROP DATABASE {} WITH (FORCE)", template)


async def _migrated(url: str) -> None:
    async with await open_storage(url) as storage:
        await storage.migrate()


def _run(url: str, statement: str, *names: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
