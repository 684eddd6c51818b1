"""Research requests and the jobs that work on them, made for tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs

from chopin_contract_tests.builders import AUTHOR, T0, at, initial
from chopin_core.channel import Channel
from chopin_core.ids import ChannelId, JobId, MessageId, TurnId, WorkspaceId
from chopin_core.jobs.job import Job, JobOrigin, Request
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import Asked, Report
from chopin_core.ports.storage import Storage
from chopin_core.research.transcript import AgentMessage, Ask, JobRole, Start, TurnKind
from chopin_core.research.workspace import Origin, Proposal


def proposal(channel_id: ChannelId, name: str = "1", **changes: Any) -> Proposal:
    plain = Proposal(
        id=WorkspaceId(f"workspace-{name}"),
        channel_id=channel_id,
        title=f"Research {name}",
        question=f"What of {name}?",
        origin=Origin.SIDEBAR,
        created_by=AUTHOR.id,
        idempotency_key=f"key {name}",
        fingerprint=f"print {name}",
        now=T0,
    )
    return attrs.evolve(plain, **changes)


def start(channel_id: ChannelId, name: str = "1", **changes: Any) -> Start:
    """A request that begins confirmed: inline, unless the changes of ``proposal`` say otherwise."""
    proposed = proposal(channel_id, name, **{"origin": Origin.INLINE, **changes.pop("proposal", {})})
    plain = Start(
        proposal=proposed,
        turn_id=TurnId(f"turn-{name}-1"),
        message_id=MessageId(f"message-{name}-1"),
        request_id=f"request-{name}-1",
        handle="ada",
    )
    return attrs.evolve(plain, **changes)


def planners(channel_id: ChannelId, name: str = "1", **changes: Any) -> Start:
    """One that the Planner began, from a message of the Chat."""
    return start(channel_id, name, proposal={"origin": Origin.PLANNER, "origin_message": MessageId(f"chat-{name}")}, **changes)


def ask(channel_id: ChannelId, number: int = 1, name: str = "1", **changes: Any) -> Ask:
    """The ``number``-th question of a workspace: the first confirms it, the others follow up."""
    plain = Ask(
        channel_id=channel_id,
        workspace_id=WorkspaceId(f"workspace-{name}"),
        kind=TurnKind.INITIAL if number == 1 else TurnKind.FOLLOW_UP,
        turn_id=TurnId(f"turn-{name}-{number}"),
        message_id=MessageId(f"message-{name}-{number}"),
        request_id=f"request-{name}-{number}",
        fingerprint=f"print {name}-{number}",
        question=f"Question {number} of {name}?",
        requested_by=AUTHOR.id,
        handle="ada",
        now=at(number),
    )
    return attrs.evolve(plain, **changes)


def said(asked: Asked, job: Job, **changes: Any) -> AgentMessage:
    plain = AgentMessage(
        channel_id=asked.workspace.channel_id,
        workspace_id=asked.workspace.id,
        turn_id=asked.turn.id,
        message_id=MessageId(f"answer of {job.id}"),
        source_job=job.id,
        text="An answer.",
        now=at(50),
    )
    return attrs.evolve(plain, **changes)


def report(asked: Asked, job: Job, **changes: Any) -> Report:
    plain = Report(
        channel_id=asked.workspace.channel_id,
        workspace_id=asked.workspace.id,
        answer_job=job.id,
        title="What was found",
        initial=initial(),
        now=at(60),
    )
    return attrs.evolve(plain, **changes)


async def job_for(storage: Storage, lease: Lease, asked: Asked, role: JobRole, id: str | None = None, **changes: Any) -> Job:
    """A job of the type and the target that a turn's must have, enqueued and not linked."""
    workspace, turn = asked.workspace, asked.turn
    name = id or f"{role.value} of {turn.id}"
    plain = Request(
        id=JobId(name),
        channel_id=workspace.channel_id,
        type=role.type,
        version=1,
        target_key=role.target(workspace.id, turn.id),
        idempotency_key=name,
        fingerprint=name,
        origin=JobOrigin.PLANNER,
        input={"query": turn.question},
        available_at=T0,
        now=T0,
    )
    return (await storage.jobs.enqueue(attrs.evolve(plain, **changes), lease=lease)).job


async def linked_job(storage: Storage, lease: Lease, asked: Asked, role: JobRole) -> Job:
    job = await job_for(storage, lease, asked, role)
    workspace = asked.workspace
    await storage.research.link_job(workspace.channel_id, workspace.id, asked.turn.id, role, job.id, now=at(5), lease=lease)
    return job


async def claimed(storage: Storage, lease: Lease, job: Job) -> Job:
    """The job in the hands of a worker."""
    found = await storage.jobs.claim(
        owner="worker", count=100, ttl=timedelta(hours=1), now=at(10), lease=lease, channel_id=job.channel_id
    )
    return next(one for one in found if one.id == job.id)


async def completed(storage: Storage, lease: Lease, job: Job) -> Job:
    running = await claimed(storage, lease, job)
    return (await storage.jobs.settle(running.token, {"report": "text"}, now=at(20), lease=lease)).job


async def failed(storage: Storage, lease: Lease, job: Job) -> Job:
    running = await claimed(storage, lease, job)
    return await storage.jobs.fail(running.token, reason="no-luck", now=at(20), lease=lease)


async def started(storage: Storage, lease: Lease, channel: Channel, name: str = "1", **changes: Any) -> Asked:
    return await storage.research.start(start(channel.id, name, **changes), lease=lease)
