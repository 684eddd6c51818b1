from __future__ import annotations

import pytest

from chopin_core.channel import Channel
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import CorruptRecord
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage

from made import REPOSITORY, checkpoint, commit, event
from watch import Watch

TOO_LARGE = 2**53
DEEP = "[" * 3000 + "]" * 3000
DESCRIBED = (
    "UPDATE channels SET generated_description = 'd', generated_description_revision = {revision},"
    " generated_description_plan_revision = {plan}, generated_description_source_hash = 'h',"
    " generated_description_generator_version = 1, generated_description_job_id = 'j', generated_description_updated_at = now()"
)

OF_THE_CHANNEL = {
    "no canonical slug": "UPDATE channel_slugs SET canonical = false",
    "no slug at all": "DELETE FROM channel_slugs",
    "no state row": "DELETE FROM channel_state",
    "a negative revision": "UPDATE channels SET revision = -1",
    "a revision no browser can count to": f"UPDATE channels SET revision = {TOO_LARGE}",
    "a negative count": "UPDATE channel_state SET unanswered_decisions = -1",
    "an impossible description": DESCRIBED.format(revision=TOO_LARGE, plan=1),
    "a description of an impossible plan": DESCRIBED.format(revision=1, plan=-1),
}

OF_ITS_HISTORY = {
    "a sequence that starts at nothing": "UPDATE channels SET next_sequence = 0",
    "an update beyond the latest sequence": "UPDATE channel_updates SET sequence = 9",
    "an update beyond the revision": "UPDATE channel_updates SET revision = 9",
    "an update at no revision": "UPDATE channel_updates SET revision = 0",
    "an event beyond the latest sequence": "UPDATE channel_events SET sequence = 9",
    "an event of a negative ordinal": "UPDATE channel_events SET ordinal = -1",
    "a snapshot beyond the latest sequence": "UPDATE channel_snapshots SET through_sequence = 9",
    "a snapshot beyond the revision": "UPDATE channel_snapshots SET revision = 9",
    "a snapshot through less than nothing": "UPDATE channel_snapshots SET through_sequence = -1",
    "a copy that is no sidecar": "UPDATE channel_snapshots SET sidecar = '[]'",
    "a copy without sections": """UPDATE channel_snapshots SET sidecar = '{"head": 1}'""",
    "a copy with something more": """UPDATE channel_snapshots SET sidecar = '{"head": 1, "sections": {}, "more": 1}'""",
    "a copy with a section of no name": """UPDATE channel_snapshots SET sidecar = '{"head": 1, "sections": {"?": 1}}'""",
    "a section of no valid name": "INSERT INTO channel_sections SELECT id, '?', '1' FROM channels",
    "sections without a head": "UPDATE channel_state SET head = NULL",
    "a head too deep to read": f"UPDATE channel_state SET head = '{DEEP}'",
    "a section too deep to read": f"UPDATE channel_sections SET value = '{DEEP}'",
    "an event too deep to read": f"UPDATE channel_events SET payload = '{DEEP}'",
}


@pytest.fixture
async def written(storage: PgStorage, channel: Channel, lease: Lease) -> Channel:
    """A channel with a row of every kind."""
    await storage.collaboration.commit(commit(channel, events=(event("1"),)), lease=lease)
    await storage.collaboration.checkpoint(checkpoint(channel, revision=StorageRevision(1)), lease=lease)
    loaded = await storage.collaboration.load(channel.id)
    assert loaded is not None
    assert len(loaded.updates) == len(loaded.events) == 1
    return channel


@pytest.mark.parametrize("damage", OF_THE_CHANNEL.values(), ids=OF_THE_CHANNEL.keys())
async def test_a_damaged_channel_is_reported_by_every_reader_and_not_repaired(
    storage: PgStorage, written: Channel, watch: Watch, damage: str
) -> None:
    await watch.run(damage)

    for _ in range(2):
        for read in (
            lambda: storage.channels.get(written.id),
            lambda: storage.channels.list(REPOSITORY.id),
            lambda: storage.channels.scan(REPOSITORY.id),
            lambda: storage.collaboration.load(written.id),
        ):
            with pytest.raises(CorruptRecord) as caught:
                await read()
            assert caught.value.where == f"channel {written.id}"


@pytest.mark.parametrize("damage", OF_ITS_HISTORY.values(), ids=OF_ITS_HISTORY.keys())
async def test_a_damaged_history_is_reported_when_it_is_loaded_and_not_repaired(
    storage: PgStorage, written: Channel, watch: Watch, damage: str
) -> None:
    await watch.run(damage)

    for _ in range(2):
        with pytest.raises(CorruptRecord) as caught:
            await storage.collaboration.load(written.id)
        assert written.id in caught.value.where


async def test_nothing_is_kept_in_a_channel_without_a_state_row(
    storage: PgStorage, written: Channel, lease: Lease, watch: Watch
) -> None:
    await watch.run("DELETE FROM channel_state")

    with pytest.raises(CorruptRecord):
        await storage.collaboration.commit(commit(written, expected=StorageRevision(1), sidecar=None), lease=lease)
    assert await watch.value("SELECT count(*) FROM channel_operations") == 1
    assert await watch.value("SELECT revision FROM channels") == 1


async def test_a_lease_of_an_impossible_token_is_corrupt(storage: PgStorage, lease: Lease, watch: Watch) -> None:
    await watch.run(f"UPDATE storage_leases SET fencing = {TOO_LARGE}")

    with pytest.raises(CorruptRecord) as caught:
        await storage.leases.holder(lease.name)
    assert caught.value.where == f"lease {lease.name}"


async def test_the_sequence_of_damage_is_told(storage: PgStorage, written: Channel, watch: Watch) -> None:
    await watch.run("UPDATE channel_updates SET revision = 9")

    with pytest.raises(CorruptRecord) as caught:
        await storage.collaboration.load(written.id)
    assert caught.value.where == f"update at sequence {StorageSequence(1)} of channel {written.id}"
