"""``chopin backup`` and ``chopin restore`` as an operator runs them, beside people who write."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import websockets

from chopin_core.document.splice import Splice
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.testing import with_database
from chopin_web.testing.browser import Browser
from chopin_web.testing.commands import command
from chopin_web.testing.person import Person, signed_in
from chopin_web.testing.server import Server, serving


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path / "postgres") as server:
        yield server


async def execute(url: str, statement: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as session:
        await session.execute(statement.encode())


async def empty_database(postgres: EmbeddedPostgres, name: str) -> str:
    await execute(postgres.url, f"CREATE DATABASE {name}")
    return with_database(postgres.url, name)


def database(url: str) -> dict[str, str]:
    return {"DATABASE_URL": url}


def secret(url: str) -> str:
    password = urlsplit(url).password
    assert password
    return password


class Typist:
    """Somebody who writes one word after the other, each as soon as the last is saved."""

    def __init__(self, name: str, browser: Browser) -> None:
        self.name = name
        self.browser = browser
        self.saved: list[str] = []

    async def type_on(self) -> None:
        while True:
            word = f"[{self.name}{len(self.saved)}]"
            await self.browser.type_in(word)
            await self.browser.settled()
            self.saved.append(word)


@asynccontextmanager
async def four_typing(server: Server, channel: str) -> AsyncIterator[list[Typist]]:
    async with AsyncExitStack() as stack:
        typists = []
        for name in ("ada", "ben", "cyd", "dan"):
            person = await stack.enter_async_context(signed_in(server.origin, server.token, name))
            typists.append(Typist(name[0], await stack.enter_async_context(person.browser(channel))))
        typing = [asyncio.create_task(typist.type_on()) for typist in typists]
        try:
            yield typists
        finally:
            for task in typing:
                task.cancel()
            await asyncio.wait(typing)


@asynccontextmanager
async def document(server: Server) -> AsyncIterator[tuple[Person, str]]:
    async with signed_in(server.origin, server.token) as person:
        yield person, await person.create_document("Notes")


async def test_what_was_acknowledged_before_a_backup_began_is_in_what_is_restored_from_it(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    target = tmp_path / "one.chopin"
    async with serving(postgres.url, tmp_path / "old") as chopin, document(chopin) as (_, channel):
        async with four_typing(chopin, channel) as typists:
            while not all(len(typist.saved) > 5 for typist in typists):
                await asyncio.sleep(0.01)
            before = [word for typist in typists for word in typist.saved]
            said = await command("backup", str(target), environment=database(postgres.url))
            assert (said.status, said.errors) == (0, "")
            assert said.output.startswith(f"{target} holds 1 channels as of ")
            written = [word for typist in typists for word in typist.saved]
            assert len(written) > len(before), "nobody could write while the backup was taken"
    url = await empty_database(postgres, "again")
    said = await command("restore", str(target), environment=database(url))
    assert (said.status, said.errors) == (0, "")
    async with serving(url, tmp_path / "new") as restored, signed_in(restored.origin, restored.token) as person:
        async with person.browser(channel) as fresh:
            text = fresh.replica.text
        assert all(text.count(word) == 1 for word in before)
        # A browser that stayed open on what was written after the backup, and has something to send.
        left = typists[0].browser
        former = left.epoch
        left.unacknowledged["late"] = left.replica.splice([Splice(0, 0, "late")])
        async with person.dial(channel) as wire:
            await left.attach(wire)
            assert left.epoch != former
            assert left.replica.text == text
            assert "late" in left.dropped
            await left.type_in("[after]")
            await left.settled()
            assert left.replica.text == f"[after]{text}"


async def test_a_restored_database_keeps_its_former_server_out(postgres: EmbeddedPostgres, tmp_path: Path) -> None:
    # The operator forgot to stop it, and gave the restored database the name of the old one.
    target = tmp_path / "one.chopin"
    url = await empty_database(postgres, "notes")
    async with (
        serving(url, tmp_path / "old") as chopin,
        document(chopin) as (person, channel),
        person.browser(channel) as browser,
    ):
        await browser.type_in("kept")
        await browser.settled()
        assert (await command("backup", str(target), environment=database(url))).status == 0
        await execute(postgres.url, "DROP DATABASE notes WITH (FORCE)")
        await execute(postgres.url, "CREATE DATABASE notes")
        said = await command("restore", str(target), environment=database(url))
        assert said.status == 0, said.errors
        try:
            await browser.type_in("from before")
            await browser.closed()
        except websockets.ConnectionClosed:
            pass
        assert browser.unacknowledged
        assert await chopin.ended() == 1
        async with serving(url, tmp_path / "new") as successor, signed_in(successor.origin, successor.token) as person:
            async with person.browser(channel) as again:
                assert again.replica.text == "kept"


async def test_a_channel_that_does_not_recover_is_named_and_the_others_are_backed_up(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    target = tmp_path / "one.chopin"
    async with serving(postgres.url, tmp_path / "old") as chopin, document(chopin) as (person, channel):
        async with person.browser(channel) as browser:
            await browser.type_in("dear diary")
            await browser.settled()
        await person.create_document("Other")
        await chopin.stop()
    await execute(postgres.url, f"UPDATE channel_snapshots SET source_hash = 'x' WHERE channel_id = '{channel}'")
    said = await command("backup", str(target), environment=database(postgres.url))
    assert said.status == 1
    assert f"{channel} does not recover: channel {channel}, snapshot: its hash is not that of its source" in said.output
    assert "1 of them do not recover" in said.errors
    assert "diary" not in said.output + said.errors
    url = await empty_database(postgres, "again")
    said = await command("restore", str(target), environment=database(url))
    assert said.status == 0
    assert said.output.startswith("1 channels are back")
    assert f"{channel} did not recover when the backup was taken" in said.output


async def test_what_chopin_local_keeps_is_backed_up_while_it_runs_and_restored_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "one.chopin"
    local = Server(tmp_path / "old")
    elsewhere = tmp_path / "new" / "data"
    async with local:
        async with document(local) as (person, channel), person.browser(channel) as browser:
            await browser.type_in("kept")
            await browser.settled()
            said = await command("backup", str(target), "--data", str(local.data))
            assert (said.status, said.errors) == (0, "")
            said = await command("restore", str(target), "--data", str(local.data))
            assert said.status == 1
            assert "another Chopin is running" in said.errors
            said = await command("restore", str(target), "--data", str(elsewhere))
            assert (said.status, said.errors) == (0, "")
            await browser.type_in("on")
            await browser.settled()
        await local.stop()
    async with Server(tmp_path / "new") as again, signed_in(again.origin, again.token) as person:
        async with person.browser(channel) as browser:
            assert browser.replica.text == "kept"
        await again.stop()
    assert not (tmp_path / "nothing").exists()
    said = await command("backup", str(tmp_path / "x"), "--data", str(tmp_path / "nothing"))
    assert (said.status, said.errors) == (1, f"chopin: nothing was ever served from {tmp_path / 'nothing'}\n")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("words", [["backup", "x.chopin"], ["restore", "x.chopin"], ["migrate"], ["doctor"]])
async def test_a_command_that_cannot_reach_its_database_says_so_in_one_line_without_its_password(
    words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "x.chopin").touch()
    words = [str(tmp_path / word) if "." in word else word for word in words]
    said = await command(*words, environment=database("postgres://u:hunter2@127.0.0.1:1/x"))
    assert said.status == (2 if words == ["doctor"] else 1)
    [line] = said.errors.splitlines()
    assert line.startswith("chopin: ")
    assert "hunter2" not in said.output + said.errors


async def test_no_output_and_no_word_that_others_see_holds_the_password(postgres: EmbeddedPostgres, tmp_path: Path) -> None:
    password, target = secret(postgres.url), tmp_path / "one.chopin"
    assert (await command("migrate", environment=database(postgres.url))).status == 0
    seen: set[str] = set()
    watching = asyncio.create_task(watch_words(seen))
    said = [await command("backup", str(target), environment=database(postgres.url))]
    url = await empty_database(postgres, "again")
    said += [await command("restore", str(target), environment=database(url)) for _ in range(2)]
    said += [
        await command("backup", str(target), environment=database(url)),
        await command("doctor", environment=database(url)),
    ]
    watching.cancel()
    assert [one.status for one in said] == [0, 0, 1, 1, 0]
    assert any("pg_dump" in words for words in seen)
    assert not any(password in words for words in seen)
    assert not any(password in one.output + one.errors for one in said)
    assert password not in (tmp_path / "postgres" / "server.log").read_text()


async def watch_words(seen: set[str]) -> None:
    """The words of every process, as anybody on the machine can list them."""
    while True:
        seen |= await asyncio.to_thread(words_of_all)
        await asyncio.sleep(0.005)


def words_of_all() -> set[str]:
    found = set()
    for process in os.listdir("/proc"):
        if process.isdecimal():
            try:
                found.add(Path("/proc", process, "cmdline").read_text(errors="replace"))
            except OSError:
                continue
    return found
