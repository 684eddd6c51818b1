"""What an operator is told of a database, and that looking stands in nobody's way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import CorruptRecord
from chopin_core.ports.leases import WRITER, Lease
from chopin_storage_pg import ledger
from chopin_storage_pg.orphans import QUESTIONS
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchServer

from made import checkpoint, commit, creation
from stores import pairing, running
from watch import Session, Watch

_WORKSPACE = """
INSERT INTO research_workspaces (id, channel_id, published_channel_id, title, proposed_question, origin, created_by, turns,
    messages, idempotency_key, fingerprint, created_at, updated_at)
VALUES ('w', 'one', {published}, 't', 'q', 'user', 'ada', {turns}, 0, 'k', 'f', now(), now())
"""
_TURN = """
INSERT INTO research_turns (id, workspace_id, ordinal, kind, request_id, fingerprint, question, requested_by, evidence_job_id,
    created_at, updated_at)
VALUES ('t', 'w', 1, 'initial', 'r', 'f', 'q', 'ada', 'job', now(), now())
"""
BREAKS = {
    "channels that no search finds": (["DELETE FROM channel_search WHERE channel_id = 'two'"], "two"),
    "channels with an operation at a place that was never given out": (["UPDATE channel_operations SET sequence = 9"], "one"),
    "channels with a journal that their checkpoint covers already": (
        ["UPDATE channel_snapshots SET through_sequence = 1"],
        "one",
    ),
    "children in another repository than their parent, or below another child": (
        ["UPDATE channels SET parent_channel_id = 'child' WHERE id = 'two'"],
        "two",
    ),
    "jobs ahead of the newest of their target": (["UPDATE background_jobs SET target_generation = 9"], "job"),
    "jobs ahead of the jobs of their channel": (["DELETE FROM background_job_channels"], "job"),
    "research requests published outside their channel": ([_WORKSPACE.format(published="'two'", turns=0)], "w"),
    "research requests that miscount their turns or messages": ([_WORKSPACE.format(published="NULL", turns=1)], "w"),
    "research turns whose jobs belong to another channel": (
        [
            _WORKSPACE.format(published="NULL", turns=1),
            _TURN,
            "UPDATE research_workspaces SET channel_id = 'two'",
        ],
        "t",
    ),
    "people whose chosen or favourite machine is revoked or not theirs": (
        [
            "INSERT INTO machine_favourites VALUES ('ada', 'machine')",
            "UPDATE machines SET revoked_at = now(), ciphertext = NULL, credential_revision = NULL",
        ],
        "ada",
    ),
}


@pytest.fixture
async def lived_in(storage: PgStorage, channel: Channel, lease: Lease) -> Channel:
    """A database in which everything that can be orphaned is there, and nothing is."""
    await storage.channels.create(creation("two"))
    await storage.channels.create(creation("child", parent_id="one"))
    await storage.collaboration.commit(commit(channel), lease=lease)
    await running(storage, channel, lease)
    await storage.machines.pair(pairing())
    return channel


async def test_in_a_database_that_only_we_wrote_nothing_is_out_of_place(storage: PgStorage, lived_in: Channel) -> None:
    assert await storage.inspection.orphans() == ()


def test_every_kind_of_orphan_is_tried() -> None:
    assert BREAKS.keys() == QUESTIONS.keys()


@pytest.mark.parametrize("kind", BREAKS)
async def test_what_is_out_of_place_is_named_with_its_owner(
    storage: PgStorage, lived_in: Channel, watch: Watch, kind: str
) -> None:
    statements, owner = BREAKS[kind]
    for statement in statements:
        await watch.session.execute(statement.encode())
    assert await storage.inspection.orphans() == (f"{kind}: 1 ({owner})",)


async def test_of_many_owners_the_first_are_named(storage: PgStorage, watch: Watch) -> None:
    for number in range(7):
        await storage.channels.create(creation(f"c{number}"))
    await watch.session.execute("DELETE FROM channel_search")
    assert await storage.inspection.orphans() == ("channels that no search finds: 7 (c0, c1, c2, c3, c4, …)",)


async def test_the_lease_is_told_of_while_it_is_held_and_after(storage: PgStorage) -> None:
    assert (await storage.inspection.lease())[0] is None
    lease = await storage.leases.acquire(WRITER, "ada", timedelta(seconds=30))
    assert lease is not None
    found, now = await storage.inspection.lease()
    assert found == lease
    assert timedelta(seconds=20) < lease.expires_at - now <= timedelta(seconds=30)
    await storage.leases.release(lease)
    found, now = await storage.inspection.lease()
    assert found is not None
    assert (found.owner, found.fencing) == ("ada", 1)
    assert found.expires_at < now


async def test_a_schema_that_is_not_ours_is_called_by_its_name(server: ScratchServer, storage: PgStorage, watch: Watch) -> None:
    newest = max(ledger.checksums())
    assert await storage.inspection.schema() == newest
    async with server.blank() as database, await database.connect() as empty:
        with pytest.raises(CorruptRecord, match="the database is empty"):
            await empty.inspection.schema()
    async with server.copied() as database, await database.connect() as older:
        async with older._connections.writing() as connection:
            await connection.exec_driver_sql(f"DELETE FROM chopin_migrations WHERE id = '{newest}'")
        with pytest.raises(CorruptRecord, match=f"{newest} is missing"):
            await older.inspection.schema()


async def test_looking_waits_for_no_write_and_no_write_waits_for_it(
    storage: PgStorage, lived_in: Channel, lease: Lease, obstacle: Session
) -> None:
    # Somebody holds what a writer locks: the lease's row and every channel.
    await obstacle.execute("SELECT FROM storage_leases FOR UPDATE")
    await obstacle.execute("SELECT FROM channels FOR UPDATE")
    inspection = storage.inspection
    await inspection.schema()
    await inspection.lease()
    await inspection.orphans()
    assert list(await inspection.channels.ids(after=None)) == ["child", "one", "two"]
    assert await inspection.channels.load(lived_in.id) is not None
    await obstacle.rollback()
    # And somebody who looks, and does not end, holds nothing that a writer wants.
    async with storage._connections.reading() as connection:
        await connection.exec_driver_sql("SELECT * FROM channels, channel_updates, storage_leases")
        stored = await storage.channels.get(lived_in.id)
        assert stored is not None
        await storage.collaboration.commit(commit(stored, expected=stored.revision), lease=lease)
        await storage.collaboration.checkpoint(checkpoint(stored, revision=stored.revision + 1, through=2), lease=lease)


async def test_channels_are_walked_in_pages_without_a_gap(storage: PgStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chopin_storage_pg.every_channel._PAGE", 2)
    for name in ("a", "B", "b", "é", "c"):
        await storage.channels.create(creation(name))
    walked: list[str] = []
    channels = storage.inspection.channels
    while page := await channels.ids(after=walked[-1] if walked else None):  # type: ignore[arg-type]  # it is a channel's
        assert len(page) <= 2
        walked += page
    assert walked == sorted(["a", "B", "b", "é", "c"])
    assert await channels.count() == 5
