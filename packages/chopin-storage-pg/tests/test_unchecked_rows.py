"""Rows that a constraint of ours would refuse are reported too, in a database that has lost it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import CorruptRecord
from chopin_core.ports.leases import Lease
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from made import NOW
from stores import running, web_session
from watch import Watch


@pytest.fixture
async def database(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """One whose schema may be changed."""
    async with server.copied() as database:
        yield database


@pytest.mark.parametrize(
    "damage",
    ["claim_owner = NULL, claim_expires_at = NULL", "claim_owner = NULL", "claim_expires_at = NULL", "state = 'pending'"],
)
async def test_a_job_whose_claim_does_not_fit_its_state_is_reported(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch, damage: str
) -> None:
    job = await running(storage, channel, lease)
    await watch.run(
        "ALTER TABLE background_jobs DROP CONSTRAINT background_jobs_claim_check", f"UPDATE background_jobs SET {damage}"
    )

    for call in (lambda: storage.jobs.get(channel.id, job.id), lambda: storage.jobs.list(channel.id)):
        with pytest.raises(CorruptRecord) as caught:
            await call()
        assert caught.value.where == f"job {job.id}"


async def test_an_agent_of_an_unknown_status_is_reported(storage: PgStorage, channel: Channel, watch: Watch) -> None:
    session = web_session()
    await storage.sessions.create(session)
    await storage.agents.claim(channel.id, session.id, now=NOW)
    await watch.run(
        "ALTER TABLE agent_state DROP CONSTRAINT agent_state_status_check", "UPDATE agent_state SET status = 'lost'"
    )

    with pytest.raises(CorruptRecord) as caught:
        await storage.agents.read(channel.id, now=NOW)
    assert caught.value.where == f"agent of channel {channel.id}"
