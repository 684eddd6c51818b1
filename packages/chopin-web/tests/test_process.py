"""The command as an operator meets it: a real process, a real PostgreSQL, signals and faults."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import httpx
import pytest
import websockets

from chopin_core.ports.leases import WRITER
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage
from chopin_web.serving import listen

from shell_site import Browser


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path / "postgres") as server:
        yield server


@attrs.define
class Process:
    """``chopin serve`` on a database."""

    process: asyncio.subprocess.Process
    origin: str
    token: str = ""
    errors: bytes = b""

    async def ended(self) -> tuple[int, str]:
        """The exit status, and what it wrote to standard error."""
        async with asyncio.timeout(60):
            _, errors = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()

    async def said(self, pattern: str) -> str:
        """The first match in what it prints to standard output."""
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            while line := await self.process.stdout.readline():
                if found := re.search(pattern, line.decode()):
                    return found[1]
        raise AssertionError(f"it never said {pattern}")

    @asynccontextmanager
    async def person(self) -> AsyncIterator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=self.origin, headers={"origin": self.origin}) as client:
            assert (await client.get(f"/auth/local?token={self.token}")).status_code == 303
            yield client

    @asynccontextmanager
    async def browser(self, client: httpx.AsyncClient, channel: str) -> AsyncIterator[Browser]:
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        address = f"{self.origin.replace('http', 'ws')}/ws?channel={channel}"
        headers = {"Cookie": cookie}
        async with websockets.connect(address, origin=websockets.Origin(self.origin), additional_headers=headers) as wire:
            browser = Browser(wire=wire)
            await browser.next("session:hello")
            await browser.open()
            yield browser


async def start(arguments: list[str], environment: dict[str, str]) -> asyncio.subprocess.Process:
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "LANG")}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chopin_web", *arguments),
        env={**kept, **environment},
        cwd="/",  # outside any checkout, so that documents go to local/sandbox
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def serving(url: str, data: Path, port: int | None = None) -> AsyncIterator[Process]:
    """A process that is ready; ended at the latest with the context."""
    if port is None:
        with listen("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
    environment = {"DATABASE_URL": url, "AUTH_MODE": "local", "PORT": str(port)}
    process = await start(["serve", "--data", str(data)], environment)
    started = Process(process, f"http://127.0.0.1:{port}")
    try:
        started.token = await started.said(r"token=(\S+)$")
        yield started
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def lease_expired(url: str) -> None:
    """Wait as a supervisor would: a writer that lost its database could not let its lease go."""
    async with await open_storage(url) as storage, asyncio.timeout(45):
        while await storage.leases.holder(WRITER) is not None:
            await asyncio.sleep(0.5)


async def test_an_empty_database_is_migrated_served_and_left_in_order(postgres: EmbeddedPostgres, tmp_path: Path) -> None:
    async with serving(postgres.url, tmp_path / "data") as chopin:
        async with httpx.AsyncClient(base_url=chopin.origin) as probe:
            assert (await probe.get("/health/live")).status_code == 200
            assert (await probe.get("/health/ready")).json() == {"status": "ready"}
        chopin.process.send_signal(signal.SIGTERM)
        status, log = await chopin.ended()
        assert status == 0
        assert '"faults": []' in log
    # Nobody has to wait for a lease that was let go.
    async with serving(postgres.url, tmp_path / "data") as again:
        again.process.send_signal(signal.SIGINT)
        assert (await again.ended())[0] == 0


async def test_draining_acknowledges_what_was_sent_and_tells_browsers_to_come_back(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "data") as chopin, chopin.person() as ada:
        made = await ada.post("/api/repositories/local/sandbox/channels", json={"title": "Notes"})
        channel = made.json()["channel"]["id"]
        async with chopin.browser(ada, channel) as browser:
            rid = await browser.type_in("last words")
            await browser.next("plan:ack", rid=rid)
            chopin.process.send_signal(signal.SIGTERM)
            assert await browser.closed() == 1012
        assert (await chopin.ended())[0] == 0


async def test_a_second_server_on_the_database_is_refused_and_told_who_the_first_is(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "data") as first:
        environment = {"DATABASE_URL": postgres.url, "AUTH_MODE": "local", "PORT": "0"}
        with listen("127.0.0.1", 0) as listener:
            environment["PORT"] = str(listener.getsockname()[1])
        second = Process(await start(["serve", "--data", str(tmp_path / "other")], environment), "")
        status, said = await second.ended()
        assert status == 1
        [line] = [line for line in said.splitlines() if line.startswith("chopin:")]
        assert re.fullmatch(rf"chopin: lease chopin:writer is held by \S+:{first.process.pid}:[0-9a-f]+", line)
        assert first.process.returncode is None


@pytest.mark.parametrize(
    ("environment", "status", "named"),
    [
        ({}, 1, ["DATABASE_URL"]),
        ({"DATABASE_URL": "mysql://u:hunter2@127.0.0.1:1/x", "SQLITE_PATH": ""}, 1, ["DATABASE_URL", "SQLITE_PATH"]),
        ({"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:1/x"}, 2, ["AUTH_MODE"]),
        ({"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:1/x", "AUTH_MODE": "local", "PORT": "18"}, 1, ["storage"]),
    ],
    ids=["nothing", "removed", "hosted", "unreachable"],
)
async def test_what_cannot_be_served_is_one_clear_line_without_secrets(
    tmp_path: Path, environment: dict[str, str], status: int, named: list[str]
) -> None:
    refused = Process(await start(["serve", "--data", str(tmp_path)], environment), "")
    got, said = await refused.ended()
    lines = [line for line in said.splitlines() if line]
    assert (got, len(lines)) == (status, 1)
    assert all(name in lines[0] for name in named)
    assert "hunter2" not in said
    assert "Traceback" not in said


async def test_when_storage_goes_away_nothing_more_is_acknowledged_and_the_next_start_recovers(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    acknowledged: list[str] = []
    async with serving(postgres.url, tmp_path / "data") as chopin, chopin.person() as ada:
        made = await ada.post("/api/repositories/local/sandbox/channels", json={"title": "Notes"})
        channel = made.json()["channel"]["id"]
        async with chopin.browser(ada, channel) as browser:
            for number in range(20):
                rid = await browser.type_in(f"[{number}]")
                await browser.next("plan:ack", rid=rid)
                acknowledged.append(f"[{number}]")
            postgres.stop()
            await browser.type_in("[unlucky]")
            assert await browser.closed() is not None
            assert not [frame for frame in browser.frames if frame.get("id") == "[unlucky]"]
        status, log = await chopin.ended()
        assert status == 1
        assert "storage failed" in log
        assert "unlucky" not in log
    with EmbeddedPostgres.start(tmp_path / "postgres") as again:
        await lease_expired(again.url)
        async with serving(again.url, tmp_path / "data") as chopin, chopin.person() as ada:
            async with chopin.browser(ada, channel) as browser:
                assert sorted(re.findall(r"\[\d+\]", browser.replica.text)) == sorted(acknowledged)
