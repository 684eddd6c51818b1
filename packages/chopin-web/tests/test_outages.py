"""Outages as people live through them: storage that refuses, a writer that is replaced, restarts, and a restored database."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import httpx
import psycopg
import pytest
import websockets

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import StorageUnavailable
from chopin_core.ids import ChannelId
from chopin_core.ports.leases import WRITER
from chopin_core.room.recovery import recover
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage
from chopin_storage_pg.testing import with_database
from chopin_web.testing.browser import Browser
from chopin_web.testing.person import Person, signed_in
from chopin_web.testing.server import Server, serving

OUTAGE = 4.0


@attrs.define(eq=False)
class Author:
    """Somebody at a browser who goes on writing whether or not anything is heard from the server."""

    name: str
    person: Person
    channel: str
    browser: Browser = attrs.field(factory=Browser)
    written: list[str] = attrs.field(factory=list)
    listening: asyncio.Task[int | None] | None = None

    async def connect(self) -> None:
        await self.browser.attach(await self.person.dial(self.channel))
        self.listening = asyncio.create_task(self.browser.listen())

    async def write(self) -> None:
        word = f"[{self.name}{len(self.written)}]"
        self.written.append(word)
        update = self.browser.replica.splice([Splice(0, 0, word)])
        with contextlib.suppress(websockets.ConnectionClosed):
            await self.browser.submit(update, id=word)

    async def saved(self) -> None:
        await until(lambda: not self.browser.unacknowledged)

    async def sees(self, expected: Sequence[str]) -> None:
        await until(lambda: words(self.browser.replica.text) == sorted(expected))

    async def reset(self) -> None:
        """Wait to be told that what is here cannot be gone on with."""
        await until(lambda: self.browser.frames[-1]["kind"] == "plan:reset")

    async def left(self) -> None:
        """Wait until the socket is closed from the other side."""
        assert self.listening is not None
        await asyncio.wait_for(self.listening, 20)

    async def leave(self) -> None:
        assert self.browser.wire is not None
        await self.browser.wire.close()
        await self.left()


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def words(text: str) -> list[str]:
    """Of a text that is nothing but words, each of which says who wrote it."""
    assert re.fullmatch(r"(\[\w+\])*", text), text
    return sorted(re.findall(r"\[\w+\]", text))


def all_written(present: Sequence[Author]) -> list[str]:
    return sorted(word for author in present for word in author.written)


@asynccontextmanager
async def authors(server: Server, channel: str | None = None, count: int = 3) -> AsyncIterator[list[Author]]:
    """Some people in one document, a new one if none is named."""
    async with AsyncExitStack() as stack:
        people = [
            await stack.enter_async_context(signed_in(server.origin, server.token, name))
            for name in ("ada", "ben", "cyd")[:count]
        ]
        channel = channel or await people[0].create_document("Notes")
        present = [Author(name, person, channel) for name, person in zip("abc", people, strict=False)]
        for author in present:
            await author.connect()
        yield present
        for author in present:
            await author.leave()


async def stored(url: str, channel: str) -> list[str]:
    """The words that would be there if every process were gone now."""
    async with await open_storage(url) as storage:
        kept = await storage.collaboration.load(ChannelId(channel))
    assert kept is not None
    found = recover(kept, PycrdtEngine())
    return [] if found is None else words(found.live.text)


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path / "postgres") as server:
        yield server


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[Server]:
    """``chopin local``, whose PostgreSQL is not left behind after a kill."""
    server = Server(tmp_path)
    await server.start()
    yield server
    await server.kill()
    await asyncio.to_thread(lambda: EmbeddedPostgres.start(server.postgres).stop())


@asynccontextmanager
async def operator(url: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """A session that may do everything, also while nobody else may write."""
    options = "-c default_transaction_read_only=off"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, options=options) as session:
        yield session


async def end_sessions(session: psycopg.AsyncConnection[Any]) -> None:
    await session.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )


# Storage that refuses


async def allow_writes(url: str, allowed: bool) -> None:
    """From now on the database may be written to, or only read; everybody has to connect anew."""
    async with operator(url) as session:
        await session.execute(b"ALTER DATABASE postgres SET default_transaction_read_only = " + (b"off" if allowed else b"on"))
        await end_sessions(session)


async def health(server: Server) -> int | None:
    """The status of the readiness probe; None when nobody answers."""
    try:
        async with httpx.AsyncClient(base_url=server.origin, timeout=10) as probe:
            return (await probe.get("/health/ready")).status_code
    except httpx.TransportError:
        return None


async def supervised(server: Server) -> None:
    """Start it again whenever it has ended, as a supervisor does. It may only end because of a fault."""
    while True:
        assert await server.ended(within=3_600) == 1
        while not server.running:
            with contextlib.suppress(AssertionError):
                await server.start()


@asynccontextmanager
async def meanwhile(*works: Any) -> AsyncIterator[None]:
    """Things that go on until the context is left, none of which may fail."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
        for task in tasks:
            assert not task.done(), task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def test_while_every_commit_fails_nothing_is_acknowledged_and_afterwards_everything_arrives_once(local: Server) -> None:
    database = await asyncio.to_thread(EmbeddedPostgres.start, local.postgres)
    url = database.url

    async with authors(local) as present:
        channel = present[0].channel

        async def write(author: Author) -> None:
            while True:
                # No more than may be sent again within a second.
                if len(author.browser.unacknowledged) < 100:
                    await author.write()
                await asyncio.sleep(0.02)

        async def watch() -> None:
            while True:
                told = {word for author in present for word in author.browser.acknowledged}
                with contextlib.suppress(StorageUnavailable):  # its session was ended along with the server's
                    assert told <= set(await stored(url, channel))
                await asyncio.sleep(0.1)

        async with meanwhile(watch(), supervised(local)):
            async with meanwhile(*map(write, present)):
                await until(lambda: all(len(author.browser.acknowledged) > 5 for author in present))
                assert await health(local) == 200
                await allow_writes(url, False)
                for author in present:
                    await author.left()
                told = [len(author.browser.acknowledged) for author in present]
                over = asyncio.get_running_loop().time() + OUTAGE
                while asyncio.get_running_loop().time() < over:
                    assert await health(local) != 200
                    await asyncio.sleep(0.05)
                assert [len(author.browser.acknowledged) for author in present] == told
                assert all(author.browser.unacknowledged for author in present)
                await allow_writes(url, True)
                async with asyncio.timeout(60):
                    while await health(local) != 200:
                        await asyncio.sleep(0.05)
            for author in present:
                await author.connect()
            for author in present:
                await author.saved()
        assert await stored(url, channel) == all_written(present)
        for author in present:
            await author.sees(all_written(present))
    await asyncio.to_thread(database.stop)


async def test_a_writer_whose_sessions_are_all_ended_goes_on_and_stays_the_only_one(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    # The lease is a row and no session, so nothing can be taken by whoever comes while the holder has no connection.
    async with serving(postgres.url, tmp_path / "first") as first, authors(first) as present:
        # A session that is ended while it is being opened is a fault like any other; from here on there is one.
        await present[0].write()
        await present[0].saved()
        for _ in range(5):
            for author in present:
                await author.write()
            async with operator(postgres.url) as session:
                await end_sessions(session)
            for author in present:
                await author.write()
            for author in present:
                await author.saved()
        second = Server(tmp_path / "second", database_url=postgres.url)
        with pytest.raises(AssertionError, match=f"chopin:writer is held by .*:{first.pid}:"):
            await second.start()
        assert await stored(postgres.url, present[0].channel) == all_written(present)


# A writer that is replaced


async def test_a_writer_whose_lease_was_taken_over_is_refused_by_the_row_and_ends(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "first") as first, authors(first) as present:
        channel = present[0].channel
        for author in present:
            await author.write()
        for author in present:
            await author.saved()
        kept = all_written(present)
        async with operator(postgres.url) as session, await open_storage(postgres.url) as storage:
            await session.execute("UPDATE storage_leases SET expires_at = clock_timestamp()")
            taken = await storage.leases.acquire(WRITER, "another", timedelta(seconds=30))
            assert taken is not None
            # At once, so that it is the row that refuses, and not the holder's own next look at its lease.
            for author in present:
                await author.write()
            for author in present:
                await author.left()
                assert len(author.browser.acknowledged) == 1
            assert await first.ended() == 1
            assert await stored(postgres.url, channel) == kept
            assert await storage.leases.release(taken)
        async with serving(postgres.url, tmp_path / "second") as second:
            for author in present:
                async with signed_in(second.origin, second.token) as author.person:
                    await author.connect()
                    await author.saved()
                    await author.leave()
            assert await stored(postgres.url, channel) == all_written(present)


# Restarts, and a database of yesterday


async def test_restarts_under_three_open_documents_leave_the_text_there_once(local: Server) -> None:
    async with authors(local) as present:
        for end in (local.stop, local.kill) * 3:
            for author in present:
                await author.write()
            await end()
            for author in present:
                await author.left()
                await author.write()
            await local.start()
            for author in present:
                await author.connect()
            for author in present:
                await author.saved()
        for author in present:
            await author.sees(all_written(present))
        async with authors(local, present[0].channel, 1) as [reader]:
            await reader.sees(all_written(present))


async def test_after_a_database_was_restored_whoever_knew_more_must_start_over_and_nothing_is_doubled(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    url = with_database(postgres.url, "notes")
    async with operator(postgres.url) as session:
        await session.execute("CREATE DATABASE notes")
        async with serving(url, tmp_path) as chopin, authors(chopin) as present:

            async def interrupted(*statements: bytes) -> None:
                await chopin.stop()
                for author in present:
                    await author.left()
                for statement in statements:
                    await session.execute(statement)
                await chopin.start()

            for author in present:
                await author.write()
                await author.saved()
            yesterday = all_written(present)
            await interrupted(b"CREATE DATABASE yesterday TEMPLATE notes")
            for author in present:
                await author.connect()
            for author in present:
                await author.write()
                await author.saved()
            await interrupted(b"DROP DATABASE notes", b"ALTER DATABASE yesterday RENAME TO notes")

            for author in present:
                await author.connect()
                await author.write()
                # It builds on what the server has never seen, as it is now.
                await author.reset()
                assert author.written[-1] in author.browser.dropped
                await author.leave()
            assert await stored(url, present[0].channel) == yesterday
            for author in present:
                author.browser = Browser()
                await author.connect()
                await author.write()
                await author.saved()
            assert await stored(url, present[0].channel) == sorted([*yesterday, *(author.written[-1] for author in present)])
