"""A storage in which there is one of everything, and what each method of the ports could be called with there."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, get_type_hints

import attrs

from chopin_contract_tests import builders, builders_jobs, research
from chopin_contract_tests.builders import AUTHOR, REPOSITORY, at
from chopin_core.counters import PlanRevision
from chopin_core.ids import JobId, MessageId, OperationId, SessionId, TurnId, WorkspaceId
from chopin_core.people import Person, Repository
from chopin_core.ports.agents import AgentContext, AgentStatus
from chopin_core.ports.channels import Cursor, DescriptionDraft
from chopin_core.ports.jobs import JobCursor
from chopin_core.ports.leases import WRITER, Lease
from chopin_core.ports.machines import MachineCredentials
from chopin_core.ports.pruning import Pruning
from chopin_core.ports.storage import Storage
from chopin_core.research.projections import ProjectionAction, ProjectionChange
from chopin_core.research.transcript import JobRole

LATER: Final = at(30)

STORES: Final = sorted(name for name, value in vars(Storage).items() if isinstance(value, property))
"""What the stores of a storage are called."""


def methods_of(store: str) -> dict[str, Any]:
    """The methods that the port of a store has."""
    port = get_type_hints(vars(Storage)[store].fget)["return"]
    return {name: method for name, method in vars(port).items() if not name.startswith("_") and inspect.isfunction(method)}


@attrs.frozen(kw_only=True)
class World:
    """A storage in which there is one of everything, and what all that is called."""

    lease: Lease
    known: Mapping[str, Any]
    """Arguments for the methods of the ports: by name, or by store and name where stores differ."""

    def argument(self, store: str, name: str) -> Any:
        return self.known[special if (special := f"{store}.{name}") in self.known else name]


async def peopled(storage: Storage, person: Person = AUTHOR, repository: Repository = REPOSITORY, **named: str) -> World:
    """One of everything. ``named`` are ids to use in place of plain ones."""
    lease = await storage.leases.acquire(named.get("lease", WRITER), "suite", timedelta(minutes=10))
    assert lease is not None
    await storage.users.put(person, now=builders.T0)
    creation = builders.creation(named.get("channel", "channel-1"), created_by=person.id, repository=repository)
    channel = await storage.channels.create(creation)
    noted = builders.event(named.get("event", "event-1"))
    commit = builders.commit(channel, 1, sidecar=builders.sidecar(1), update=b"1", events=(noted,))
    commit = attrs.evolve(commit, operation_id=OperationId(named.get("operation", "operation-1")))
    await storage.collaboration.commit(commit, lease=lease)
    stored = await storage.collaboration.load(channel.id)
    assert stored is not None
    session = builders.web_session(named.get("session", "session-1"), user_id=person.id)
    await storage.sessions.create(session)
    agent = await storage.agents.claim(channel.id, session.id, now=at(1))
    pairing = builders.pairing(named.get("machine", "machine-1"), owner=person.id, token_hash=b"token")
    machine = await storage.machines.pair(pairing)
    await storage.machines.choose(person.id, channel.id, machine.id)
    await storage.machines.favour(person.id, machine.id)
    await storage.navigation.record_visit(person.id, channel.id, repository, now=at(1))
    image = builders.image(channel, uploaded_by=person.id)
    await storage.images.put(image)
    request = builders_jobs.request(
        channel,
        id=JobId(named.get("job", "job-1")),
        target_key=named.get("target", "target-1"),
        idempotency_key=named.get("key", "key-1"),
    )
    await storage.jobs.enqueue(request, lease=lease)
    job = await builders_jobs.claimed(storage, channel, lease)
    proposed = {
        "id": WorkspaceId(named.get("workspace", "workspace-1")),
        "created_by": person.id,
        "idempotency_key": named.get("key", "key-1"),
    }
    start = research.start(
        channel.id,
        proposal=proposed,
        turn_id=TurnId(named.get("turn", "turn-1")),
        message_id=MessageId(named.get("message", "message-1")),
        request_id=named.get("request", "request-1"),
    )
    asked = await storage.research.start(start, lease=lease)

    placed = ProjectionChange(workspace_id=asked.workspace.id, action=ProjectionAction.ADD)
    next_commit = builders.commit(channel, 2, update=b"2", events=(builders.event("event-2"),), projections=(placed,))
    answer = research.said(asked, attrs.evolve(job, id=JobId("short")))
    digest = f"sha256:{'0' * 64}"
    draft = DescriptionDraft(value="Text", plan_revision=PlanRevision(1), source_hash=digest, job_id=job.id, now=LATER)
    pruning = Pruning(older_than=timedelta(days=1), limit=9, start=channel.id)
    known: dict[str, Any] = {
        "pruning": pruning,
        "lease": lease, "now": LATER, "ttl": timedelta(minutes=1), "expected": job.revision, "generation": agent.generation,
        "channel_id": channel.id, "operation_id": commit.operation_id, "repository_id": repository.id, "user_id": person.id,
        "owner": person.id, "session_id": session.id, "machine_id": machine.id, "job_id": job.id,
        "workspace_id": asked.workspace.id, "turn_id": asked.turn.id, "published": channel.id, "after": asked.workspace.id,
        "evidence_job": None, "answer_job": None, "repositories": frozenset([repository.id]), "channel_ids": [channel.id],
        "creation": builders.creation("channel-2", repository=repository, created_by=person.id, parent_id=channel.id),
        "title": "Another title", "slug": channel.slug, "commit": next_commit,
        "replacement": builders.replacement(channel, 2), "checkpoint": builders.checkpoint(stored),
        "draft": draft,
        "person": attrs.evolve(person, login="other"), "session": attrs.evolve(session, id=SessionId("session-2")),
        "context": AgentContext(summary="", transcript_cursor=0, status=AgentStatus.READY, now=LATER),
        "pairing": builders.pairing("machine-2", owner=person.id), "label": "", "auto_run": True, "token_hash": b"new",
        "ciphertext": b"new", "repository": repository, "image": image, "sha256": image.sha256,
        "request": builders_jobs.request(channel, 2), "token": job.token, "step": builders_jobs.step(), "binding": None,
        "value": None, "reason": "busy", "available_at": LATER, "count_failure": True, "count": 9,
        "proposal": research.proposal(channel.id, "2", created_by=person.id),
        "start": research.start(channel.id, "3", proposal={"created_by": person.id}),
        "ask": attrs.evolve(research.ask(channel.id, 2), workspace_id=asked.workspace.id, requested_by=person.id),
        "said": attrs.evolve(answer, source_job=job.id), "report": research.report(asked, job), "role": JobRole.EVIDENCE,
        "idempotency_key": start.proposal.idempotency_key,
    }  # fmt: skip
    special = {
        "jobs.owner": "worker", "leases.owner": "suite", "leases.name": "other",
        "sessions.credentials": builders.credentials(2),
        "machines.credentials": MachineCredentials(ciphertext=b""), "navigation.expected": None,
        "channels.after": Cursor(at=LATER, id=channel.id), "jobs.after": JobCursor(at=LATER, id=job.id),
    }  # fmt: skip
    return World(lease=lease, known={**known, **special})
