"""``chopin doctor`` and ``chopin migrate`` as an operator, or a monitor, runs them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chopin_storage_pg import ledger
from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_web.testing.commands import Said, command
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import Server, serving

ALL = ["settings", "connection", "hazards", "schema", "lease", "orphans", "recovery"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path_factory.mktemp("doctor") / "postgres") as server:
        yield server


@pytest.fixture
def url(server: EmbeddedPostgres) -> Iterator[str]:
    """A database without a table."""
    execute(server.url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    yield server.url


def execute(url: str, statement: str) -> None:
    """As somebody who may do everything, also while nobody else may write."""
    with psycopg.connect(url, autocommit=True, options="-c default_transaction_read_only=off") as session:
        session.execute(statement.encode())


async def doctor(url: str, *words: str) -> Said:
    return await command("doctor", *words, environment={"DATABASE_URL": url})


def checks(said: Said) -> dict[str, dict[str, Any]]:
    """What ``--json`` says of each check."""
    [line] = said.output.splitlines()
    given = json.loads(line)
    assert given["healthy"] == (said.status == 0)
    return {check["name"]: check for check in given["checks"]}


async def test_beside_a_server_it_names_the_writer_and_disturbs_nobody(url: str, tmp_path: Path) -> None:
    async with serving(url, tmp_path) as chopin, signed_in(chopin.origin, chopin.token) as ada:
        channel = await ada.create_document("Notes")
        async with ada.browser(channel) as browser:
            await browser.type_in("kept")
            await browser.settled()
            said = await doctor(url)
            assert (said.status, said.errors) == (0, "")
            lines = said.output.splitlines()
            assert [line.split()[1].rstrip(":") for line in lines] == ALL
            assert all(line.startswith("ok ") for line in lines)
            assert f":{chopin.pid}:" in lines[4] and "fencing token 1, for another" in lines[4]
            assert lines[6].endswith("all 1 channels recover, and their text is that of its hash")
            found = checks(await doctor(url, "--json"))
            assert list(found) == ALL
            await browser.type_in(", still")
            await browser.settled()
        await chopin.stop()
        assert "lost" not in chopin.said()
    found = checks(await doctor(url, "--json"))
    assert found["lease"]["says"].startswith("free; ")


async def test_on_a_terminal_there_is_a_bar_and_the_lines_are_the_same(url: str, tmp_path: Path) -> None:
    async with serving(url, tmp_path) as chopin, signed_in(chopin.origin, chopin.token) as ada:
        await ada.create_document("Notes")
        await chopin.stop()
    screen, terminal = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chopin_web", "doctor"),
        env={"PATH": os.environ["PATH"], "TERM": "xterm", "DATABASE_URL": url},
        stdout=asyncio.subprocess.PIPE,
        stderr=terminal,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        os.close(terminal)
    shown = os.read(screen, 2**16).decode()
    os.close(screen)
    assert process.returncode == 0
    assert "opening channels" in shown and "1/1" in shown
    assert output.decode() == (await doctor(url)).output


async def test_it_changes_nothing(url: str, tmp_path: Path) -> None:
    async with serving(url, tmp_path) as chopin, signed_in(chopin.origin, chopin.token) as ada:
        await ada.create_document("Notes")
        await chopin.stop()
    execute(url, "ALTER DATABASE postgres SET default_transaction_read_only = on")
    try:
        assert (await doctor(url)).status == 0
    finally:
        execute(url, "ALTER DATABASE postgres RESET default_transaction_read_only")


async def test_what_is_wrong_is_named_without_a_word_of_a_document_and_the_rest_is_looked_at(url: str, tmp_path: Path) -> None:
    async with serving(url, tmp_path) as chopin, signed_in(chopin.origin, chopin.token) as ada:
        spoilt, archived, good = [await ada.create_document(title) for title in ("One", "Two", "Three")]
        for channel in (spoilt, archived):
            async with ada.browser(channel) as browser:
                await browser.type_in("dear diary")
                await browser.settled()
        await chopin.stop()
    execute(url, f"UPDATE channel_snapshots SET source = source || 'x' WHERE channel_id = '{spoilt}'")
    execute(url, f"UPDATE channels SET archived_at = now() WHERE id = '{archived}'")
    execute(url, f"UPDATE channel_snapshots SET document = '\\xff' WHERE channel_id = '{archived}'")
    execute(url, f"UPDATE channel_state SET unanswered_decisions = 3 WHERE channel_id = '{good}'")
    execute(url, f"DELETE FROM channel_search WHERE channel_id = '{good}'")
    said = await doctor(url, "--json")
    assert said.status == 1
    found = checks(said)
    assert [name for name in found if found[name]["outcome"] == "wrong"] == ["orphans", "recovery"]
    assert found["orphans"]["details"] == [f"channels that no search finds: 1 ({good})"]
    assert found["recovery"]["says"] == "3 of 3 channels are not in order"
    details = {detail.partition(":")[0]: detail for detail in found["recovery"]["details"]}
    assert details[spoilt] == f"{spoilt}: channel {spoilt}, snapshot: its hash is not that of its source"
    assert details[archived].startswith(f"{archived}: channel {archived}, snapshot: ")
    assert details[good] == f"{good}: its count of unanswered decisions is not that of its sidecar"
    lines = await doctor(url)
    assert lines.status == 1
    assert f"- {details[spoilt]}" in lines.output
    assert "diary" not in said.output + said.errors + lines.output + lines.errors


async def test_without_this_versions_schema_it_says_what_to_do_and_asks_no_more(url: str) -> None:
    found = checks(await doctor(url, "--json"))
    assert found["schema"]["says"] == (
        "schema: the database is empty: chopin migrate makes the schema, chopin restore fills it"
    )
    assert [found[name]["outcome"] for name in ALL[4:]] == ["skipped"] * 3
    execute(url, "CREATE TABLE accounts ()")
    found = checks(await doctor(url, "--json"))
    assert found["schema"]["says"] == "schema: the database was not made by Chopin"


@pytest.mark.parametrize(
    ("environment", "check"),
    [
        ({}, "settings"),
        ({"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:1/x", "SQLITE_PATH": ""}, "settings"),
        ({"DATABASE_URL": "postgres://u:hunter2@127.0.0.1:1/x"}, "connection"),
    ],
    ids=["nothing", "removed", "unreachable"],
)
async def test_where_it_cannot_look_the_status_is_2_and_a_monitor_still_gets_an_object(
    environment: dict[str, str], check: str
) -> None:
    said = await command("doctor", "--json", environment=environment)
    assert said.status == 2
    [wrong] = [found for found in checks(said).values() if found["outcome"] == "wrong"]
    assert wrong["name"] == check
    assert "hunter2" not in said.output + said.errors


async def test_what_chopin_local_keeps_can_be_looked_at_while_it_runs_and_after(tmp_path: Path) -> None:
    local = Server(tmp_path)
    async with local:
        async with signed_in(local.origin, local.token) as ada:
            await ada.create_document("Notes")
        said = await command("doctor", "--data", str(local.data))
        assert (said.status, said.errors) == (0, "")
        assert "held by local:" in said.output
        await local.stop()
    said = await command("doctor", "--json", "--data", str(local.data))
    assert said.status == 0
    assert checks(said)["lease"]["says"].startswith("free; local:")
    assert not (local.postgres / "cluster" / "postmaster.pid").exists()
    said = await command("doctor", "--data", str(tmp_path / "nothing"))
    assert (said.status, said.errors) == (2, f"chopin: nothing was ever served from {tmp_path / 'nothing'}\n")


async def test_migrate_says_from_where_to_where_it_went(url: str) -> None:
    first, *_, last = ledger.checksums()
    shape = Path(__file__).parents[2] / "chopin-storage-pg" / "tests" / "shapes" / "0001_baseline.sql"
    environment = {"DATABASE_URL": url}
    said = await command("migrate", environment=environment)
    assert (said.status, said.output) == (0, f"The schema was made, up to {last}.\n")
    said = await command("migrate", environment=environment)
    assert (said.status, said.output) == (0, f"The schema is up to date at {last}; there was nothing to do.\n")
    execute(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    execute(url, shape.read_text())
    said = await command("migrate", environment=environment)
    assert said.status == 0
    assert said.output == f"The schema went from {first} to {last}: {', '.join(list(ledger.checksums())[1:])}.\n"
    execute(url, "UPDATE chopin_migrations SET checksum = 'other'")
    said = await command("migrate", environment=environment)
    assert (said.status, said.output) == (1, "")
    assert said.errors == f"chopin: schema: revision {first} was changed after it was applied\n"
