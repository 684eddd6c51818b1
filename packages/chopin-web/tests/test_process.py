"""The command as an operator meets it: a real process, a real PostgreSQL, signals and faults."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from chopin_core.ports.leases import WRITER
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.storage import open_storage
from chopin_web.close_codes import CloseCode
from chopin_web.testing.commands import command
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import Server, serving


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path / "postgres") as server:
        yield server


async def lease_expired(url: str) -> None:
    """Wait as a supervisor would: a writer that lost its database could not let its lease go."""
    async with await open_storage(url) as storage, asyncio.timeout(45):
        while await storage.leases.holder(WRITER) is not None:
            await asyncio.sleep(0.5)


async def test_an_empty_database_is_migrated_served_and_left_in_order(postgres: EmbeddedPostgres, tmp_path: Path) -> None:
    async with serving(postgres.url, tmp_path / "one") as chopin:
        async with httpx.AsyncClient(base_url=chopin.origin) as probe:
            assert (await probe.get("/health/live")).status_code == 200
            assert (await probe.get("/health/ready")).json() == {"status": "ready"}
        await chopin.stop()
        assert '"faults": []' in chopin.said()
        # Nobody has to wait for a lease that was let go.
        await chopin.start()
        os.kill(chopin.pid, signal.SIGINT)
        assert await chopin.ended() == 0


async def test_draining_acknowledges_what_was_sent_and_tells_browsers_to_come_back(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "one") as chopin, signed_in(chopin.origin, chopin.token) as ada:
        async with ada.browser(await ada.create_document("Notes")) as browser:
            rid = await browser.type_in("last words")
            await browser.next("plan:ack", rid=rid)
            os.kill(chopin.pid, signal.SIGTERM)
            assert await browser.closed() == CloseCode.RESTART
        assert await chopin.ended() == 0


async def test_a_second_server_on_the_database_is_refused_and_told_who_the_first_is(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "one") as first:
        second = Server(tmp_path / "two", database_url=postgres.url)
        await second.launch()
        assert await second.ended() == 1
        [line] = [line for line in second.said().splitlines() if line.startswith("chopin:")]
        assert re.fullmatch(rf"chopin: lease chopin:writer is held by \S+:{first.pid}:[0-9a-f]+", line)
        assert first.process is not None
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
    said = await command("serve", "--data", str(tmp_path), environment=environment)
    lines = [line for line in said.errors.splitlines() if line]
    assert (said.status, len(lines)) == (status, 1)
    assert all(name in lines[0] for name in named)
    assert "hunter2" not in said.errors
    assert "Traceback" not in said.errors


async def test_when_storage_goes_away_nothing_more_is_acknowledged_and_the_next_start_recovers(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    async with serving(postgres.url, tmp_path / "one") as chopin:
        async with signed_in(chopin.origin, chopin.token) as ada:
            channel = await ada.create_document("Notes")
            async with ada.browser(channel) as browser:
                for number in range(20):
                    await browser.type_in(f"[{number}]")
                    await browser.settled()
                acknowledged = browser.replica.text
                postgres.stop()
                await browser.type_in("[unlucky]")
                assert await browser.closed() is not None
                assert list(browser.unacknowledged)
        assert await chopin.ended() == 1
        assert "storage failed" in chopin.said()
        assert "unlucky" not in chopin.said()
        with EmbeddedPostgres.start(tmp_path / "postgres") as again:
            await lease_expired(again.url)
            later = Server(tmp_path / "later", database_url=again.url)
            async with later, signed_in(later.origin, later.token) as ada, ada.browser(channel) as browser:
                assert browser.replica.text == acknowledged
