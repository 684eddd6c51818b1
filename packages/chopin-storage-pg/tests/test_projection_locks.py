"""What a commit that changes the block of a research request waits for."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from chopin_core.channel import Channel
from chopin_core.errors import LeaseLost, ProjectionRefused
from chopin_core.ids import MessageId, TurnId, WorkspaceId
from chopin_core.ports.collaboration import Commit
from chopin_core.ports.leases import Lease
from chopin_core.research.projections import ProjectionAction, ProjectionChange
from chopin_core.research.transcript import JobRole, Start
from chopin_core.research.workspace import Origin, Proposal
from chopin_storage_pg.locks import JOB_LOCK
from chopin_storage_pg.storage import PgStorage

from made import ADA, NOW, commit
from stores import request
from watch import Session, Watch


@pytest.fixture
async def adding(storage: PgStorage, channel: Channel, lease: Lease) -> Commit:
    """A commit that adds the block of a request whose job is pending."""
    proposal = Proposal(
        id=WorkspaceId("w"),
        channel_id=channel.id,
        title="Research",
        question="What?",
        origin=Origin.INLINE,
        created_by=ADA.id,
        idempotency_key="k",
        fingerprint="f",
        now=NOW,
    )
    start = Start(proposal=proposal, turn_id=TurnId("t"), message_id=MessageId("m"), request_id="r", handle="ada")
    asked = await storage.research.start(start, lease=lease)
    role = JobRole.EVIDENCE
    named = request(channel, type=role.type, target_key=role.target(asked.workspace.id, asked.turn.id))
    job = (await storage.jobs.enqueue(named, lease=lease)).job
    await storage.research.link_job(channel.id, asked.workspace.id, asked.turn.id, role, job.id, now=NOW, lease=lease)
    change = ProjectionChange(workspace_id=asked.workspace.id, action=ProjectionAction.ADD)
    return commit(channel, update=b"block", projections=(change,))


async def test_a_commit_that_waited_for_a_job_sees_what_became_of_it(
    storage: PgStorage, lease: Lease, adding: Commit, obstacle: Session, watch: Watch
) -> None:
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s)", (JOB_LOCK,))
    await obstacle.execute("UPDATE background_jobs SET state = 'failed'")
    committing = asyncio.create_task(storage.collaboration.commit(adding, lease=lease))
    await watch.until_waiting()
    await obstacle.commit()

    with pytest.raises(ProjectionRefused):
        await committing
    assert await watch.value("SELECT count(*) FROM channel_operations") == 0


async def test_the_lease_is_judged_after_the_wait_for_a_job(
    storage: PgStorage, adding: Commit, obstacle: Session, watch: Watch
) -> None:
    brief = await storage.leases.acquire("brief", "tests", timedelta(seconds=0.3))
    assert brief is not None
    await obstacle.execute("SELECT pg_advisory_xact_lock(%s)", (JOB_LOCK,))
    committing = asyncio.create_task(storage.collaboration.commit(adding, lease=brief))
    await watch.until_waiting()
    await watch.until("SELECT expires_at <= clock_timestamp() FROM storage_leases WHERE name = %s", brief.name)
    await obstacle.rollback()

    with pytest.raises(LeaseLost):
        await committing
    assert await watch.value("SELECT count(*) FROM channel_operations") == 0
