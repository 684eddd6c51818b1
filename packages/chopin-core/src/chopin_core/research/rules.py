"""
What becomes of a research request, given all that bears on it: the moves that both adapters make.

Each answers the values as they will be, or refuses and then nothing is to be kept. An adapter finds what goes in, kept from
moving meanwhile, and keeps what comes out.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import attrs

from chopin_core.channel import Channel
from chopin_core.errors import ChannelArchived, IdempotencyConflict, ResearchRefused
from chopin_core.ids import ChannelId, JobId
from chopin_core.jobs.job import OPEN, Job, JobState
from chopin_core.research.transcript import AgentMessage, Ask, JobRole, Message, Start, Turn
from chopin_core.research.workspace import InlineReference, Origin, Proposal, Workspace


@attrs.frozen(kw_only=True)
class LinkedJob:
    """A job as research looks at it: ``current`` if no later one has taken its target over."""

    job: Job
    current: bool
    artifact: bool = False

    def works_on(self, turn: Turn, role: JobRole) -> bool:
        """Whether it is the job of that role in that turn, and still the one that counts."""
        named = (self.job.type, self.job.target_key) == (role.type, role.target(turn.workspace_id, turn.id))
        return named and self.current


def refuse_other_proposal(known: Workspace, proposal: Proposal) -> None:
    if known.fingerprint != proposal.fingerprint:
        raise IdempotencyConflict(proposal.idempotency_key)


def started_before(known: Workspace, turn: Turn | None, start: Start) -> Workspace:
    """The workspace after a repeated start: a reference may be asked for that it does not have yet."""
    proposal = start.proposal
    asked = (proposal.fingerprint, proposal.origin, proposal.origin_message)
    if turn is None or asked != (known.fingerprint, known.origin, known.origin_message):
        raise IdempotencyConflict(proposal.idempotency_key)
    if start.inline_reference and known.inline_reference is None:
        return attrs.evolve(known, inline_reference=InlineReference.PENDING)
    return known


def refuse_other_ask(turn: Turn, message: Message, ask: Ask) -> None:
    if not ask.repeats(turn, message):
        raise IdempotencyConflict(ask.request_id)


def confirmed(channel: Channel, workspace: Workspace, ask: Ask) -> tuple[Workspace, Turn, Message]:
    refuse_archived(channel)
    if workspace.confirmed:
        raise ResearchRefused(workspace.id, "confirmed")
    return _asked(workspace, ask, query=ask.question, confirmed_by=ask.requested_by)


def asked_again(channel: Channel, workspace: Workspace, ask: Ask) -> tuple[Workspace, Turn, Message]:
    refuse_archived(channel)
    if not workspace.confirmed:
        raise ResearchRefused(workspace.id, "unconfirmed")
    return _asked(workspace, ask)


def linked(workspace: Workspace, turn: Turn, role: JobRole, job: LinkedJob, *, now: datetime) -> tuple[Workspace, Turn] | None:
    """None if the turn has the job in that role already. No job fits two turns: its target names one."""
    if not job.works_on(turn, role):
        raise ResearchRefused(workspace.id, "job-unfit")
    if turn.job(role) == job.job.id:
        return None
    if turn.job(role) is not None:
        raise ResearchRefused(workspace.id, "linked")
    return workspace.moved(now), turn.linked(role, job.job.id, now)


def refuse_other_links(
    channel: Channel, workspace: Workspace, turn: Turn | None, *, evidence_job: JobId | None, answer_job: JobId | None
) -> Turn:
    """The initial turn, if its links may be taken away and are these."""
    refuse_archived(channel)
    if workspace.published_channel is not None:
        raise ResearchRefused(workspace.id, "published")
    if turn is None:
        raise ResearchRefused(workspace.id, "unconfirmed")
    if (turn.evidence_job, turn.answer_job) != (evidence_job, answer_job):
        raise ResearchRefused(workspace.id, "linked")
    return turn


def unlinked(workspace: Workspace, turn: Turn, states: Collection[JobState], now: datetime) -> tuple[Workspace, Turn]:
    """``states`` are those of the linked jobs, of which there is at least one."""
    if OPEN.intersection(states):
        raise ResearchRefused(workspace.id, "open")
    if all(state is JobState.COMPLETED for state in states):
        raise ResearchRefused(workspace.id, "completed")
    free = attrs.evolve(turn, evidence_job=None, answer_job=None, updated_at=max(turn.updated_at, now))
    return workspace.moved(now), free


def said(workspace: Workspace, turn: Turn, agent: AgentMessage) -> tuple[Workspace, Message]:
    if turn.answer_job != agent.source_job:
        raise ResearchRefused(workspace.id, "job-unfit")
    moved = workspace.moved(agent.now, messages=workspace.messages + 1)
    return moved, agent.message(moved.messages)


def refuse_other_message(known: Message, agent: AgentMessage) -> None:
    if not agent.repeats(known):
        raise IdempotencyConflict(agent.message_id)


def refuse_other_answer(workspace: Workspace, turn: Turn | None, answer_job: JobId) -> Turn:
    """The initial turn, if that job answers it."""
    if turn is None:
        raise ResearchRefused(workspace.id, "unconfirmed")
    if turn.answer_job != answer_job:
        raise ResearchRefused(workspace.id, "linked")
    return turn


def refuse_unpublishable(parent: Channel, workspace: Workspace, turn: Turn, answer: LinkedJob | None) -> None:
    refuse_archived(parent)
    if parent.parent_id is not None:
        raise ResearchRefused(workspace.id, "parent")
    finished = answer is not None and answer.job.state is JobState.COMPLETED and answer.artifact
    if answer is None or not finished or not answer.works_on(turn, JobRole.ANSWER):
        raise ResearchRefused(workspace.id, "unfinished")


def published(workspace: Workspace, child: ChannelId, now: datetime) -> Workspace:
    return workspace.moved(now, published_channel=child)


def ended_by(workspace: Workspace, turn: Turn | None, answer: Job | None, evidence: Job | None) -> JobId | None:
    """The job that ended a placed request of the Planner, if it has come to an end."""
    placed = workspace.origin is Origin.PLANNER and workspace.inline_reference is InlineReference.PLACED
    if not placed or turn is None:
        return None
    if answer is not None and answer.state is JobState.FAILED:
        return answer.id
    if answer is not None and answer.state is JobState.COMPLETED and workspace.published_channel is not None:
        return answer.id
    return evidence.id if evidence is not None and evidence.state is JobState.FAILED else None


def refuse_archived(channel: Channel) -> None:
    if channel.archived:
        raise ChannelArchived(channel.id)


def _asked(workspace: Workspace, ask: Ask, **changes: Any) -> tuple[Workspace, Turn, Message]:
    moved = workspace.moved(ask.now, turns=workspace.turns + 1, messages=workspace.messages + 1, **changes)
    return moved, ask.turn(moved.turns), ask.message(moved.messages)
