"""Moving research requests in the tables: what is read there, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chopin_core.channel import Channel
from chopin_core.errors import IdempotencyConflict, JobMissing, UserMissing, WorkspaceMissing
from chopin_core.ids import ChannelId, JobId, WorkspaceId
from chopin_core.jobs.job import Job
from chopin_core.memory.channels import channel_of
from chopin_core.memory.tables import Tables
from chopin_core.ports.research import PAGE_LIMIT, Asked
from chopin_core.research import rules
from chopin_core.research.projections import working_on
from chopin_core.research.transcript import Ask, Author, Message, Turn
from chopin_core.research.workspace import Origin, Proposal, Workspace


def linked_job(tables: Tables, job: Job) -> rules.LinkedJob:
    current = tables.job_targets[job.channel_id, job.target_key] == job.target_generation
    return rules.LinkedJob(job=job, current=current, artifact=job.id in tables.artifacts)


def known_job(tables: Tables, job_id: JobId) -> Job:
    if job_id not in tables.jobs:
        raise JobMissing(job_id)
    return tables.jobs[job_id]


def requests_of(tables: Tables, channel_id: ChannelId | None) -> list[Workspace]:
    return [workspace for workspace in tables.workspaces.values() if channel_id in (None, workspace.channel_id)]


def first(workspaces: Iterable[Workspace], fits: Callable[[Workspace], bool]) -> Workspace | None:
    return next(filter(fits, workspaces), None)


def after_id(workspaces: Iterable[Workspace], after: WorkspaceId | None, limit: int | None) -> list[Workspace]:
    ordered = sorted(
        (workspace for workspace in workspaces if after is None or workspace.id > after), key=lambda workspace: workspace.id
    )
    return ordered if limit is None else ordered[: min(max(limit, 1), PAGE_LIMIT)]


def listed(tables: Tables, channel_id: ChannelId, include_planner: bool) -> list[Workspace]:
    shown = [
        workspace for workspace in requests_of(tables, channel_id) if include_planner or workspace.origin is not Origin.PLANNER
    ]
    shown.sort(key=lambda workspace: workspace.id)
    shown.sort(key=lambda workspace: workspace.updated_at, reverse=True)
    return shown


def find_workspace(tables: Tables, channel_id: ChannelId, workspace_id: WorkspaceId) -> tuple[Channel, Workspace]:
    channel = channel_of(tables, channel_id)
    workspace = tables.workspaces.get(workspace_id)
    if workspace is None or workspace.channel_id != channel_id:
        raise WorkspaceMissing(workspace_id)
    return channel, workspace


def bearing_on(
    tables: Tables, channel_id: ChannelId, workspace_id: WorkspaceId
) -> tuple[Workspace | None, Turn | None, Job | None]:
    """A request of the channel, its initial turn and the job that works on that, as far as there are such."""
    workspace = first(requests_of(tables, channel_id), lambda workspace: workspace.id == workspace_id)
    turn = None if workspace is None else initial_turn(tables, workspace)
    working = working_on(turn)
    return workspace, turn, None if working is None else tables.jobs.get(working[1])


def turns_of(tables: Tables, workspace: Workspace) -> list[Turn]:
    turns = (turn for turn in tables.turns.values() if turn.workspace_id == workspace.id)
    return sorted(turns, key=lambda turn: turn.ordinal)


def messages_of(tables: Tables, workspace: Workspace) -> list[Message]:
    messages = (message for message in tables.messages.values() if message.workspace_id == workspace.id)
    return sorted(messages, key=lambda message: message.sequence)


def initial_turn(tables: Tables, workspace: Workspace) -> Turn | None:
    return next((turn for turn in turns_of(tables, workspace) if turn.ordinal == 1), None)


def find_by_key(tables: Tables, channel_id: ChannelId, key: str) -> Workspace | None:
    return first(requests_of(tables, channel_id), lambda workspace: workspace.idempotency_key == key)


def refuse_staging(tables: Tables, channel: Channel, proposal: Proposal) -> None:
    rules.refuse_archived(channel)
    if proposal.created_by not in tables.users:
        raise UserMissing(proposal.created_by)
    if proposal.id in tables.workspaces:
        raise IdempotencyConflict(proposal.id)


def refuse_taken(tables: Tables, turn: Turn, message: Message) -> None:
    if turn.id in tables.turns or message.id in tables.messages:
        raise IdempotencyConflict(turn.id)


def asking_message(tables: Tables, turn: Turn) -> Message:
    """The member's message that asked for a turn."""
    return next(
        message for message in tables.messages.values() if message.turn_id == turn.id and message.author is Author.MEMBER
    )


def asked_before(tables: Tables, workspace: Workspace, ask: Ask) -> Asked | None:
    turn = next((turn for turn in turns_of(tables, workspace) if turn.request_id == ask.request_id), None)
    if turn is None:
        return None
    message = asking_message(tables, turn)
    rules.refuse_other_ask(turn, message, ask)
    return Asked(workspace=workspace, turn=turn, message=message, repeated=True)


def keep_asked(tables: Tables, asked: tuple[Workspace, Turn, Message]) -> Asked:
    workspace, turn, message = asked
    if turn.requested_by not in tables.users:
        raise UserMissing(turn.requested_by)
    refuse_taken(tables, turn, message)
    keep(tables, workspace, turn, message)
    return Asked(workspace=workspace, turn=turn, message=message, repeated=False)


def keep(tables: Tables, *values: Workspace | Turn | Message) -> None:
    for value in values:
        match value:
            case Workspace():
                tables.workspaces[value.id] = value
            case Turn():
                tables.turns[value.id] = value
            case Message():
                tables.messages[value.id] = value


def ended_by(tables: Tables, workspace: Workspace) -> JobId | None:
    turn = initial_turn(tables, workspace)
    answer = None if turn is None or turn.answer_job is None else tables.jobs[turn.answer_job]
    evidence = None if turn is None or turn.evidence_job is None else tables.jobs[turn.evidence_job]
    return rules.ended_by(workspace, turn, answer, evidence)
