"""Research requests in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import attrs

from chopin_core.channel import Channel, TitlePolicy, title_key
from chopin_core.errors import (
    IdempotencyConflict,
    JobMissing,
    ResearchRefused,
    TurnMissing,
    UserMissing,
    WorkspaceMissing,
)
from chopin_core.ids import ChannelId, JobId, RepositoryId, TurnId, WorkspaceId
from chopin_core.jobs.job import Job
from chopin_core.memory.channels import born, channel_of, create
from chopin_core.memory.leases import fenced
from chopin_core.memory.tables import Connection, Tables, utc
from chopin_core.ports.channels import ChannelCreate
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import (
    MOST_CHANNELS,
    MOST_WORKSPACES,
    PAGE_LIMIT,
    Asked,
    ChannelResearch,
    Linked,
    Published,
    Report,
    RepositoryResearch,
    Said,
    Staged,
    TerminalRecovery,
)
from chopin_core.research import rules
from chopin_core.research.transcript import (
    AgentMessage,
    Ask,
    Author,
    JobRole,
    Message,
    Start,
    Transcript,
    Turn,
    TurnKind,
    refuse_initial,
)
from chopin_core.research.workspace import (
    InlineReference,
    Origin,
    Proposal,
    Workspace,
    free_title,
    report_id,
)
from chopin_core.text import key


@attrs.frozen
class MemoryResearchStore:
    _connection: Connection

    # Staging

    async def create(self, proposal: Proposal, *, lease: Lease) -> Staged:
        proposal = attrs.evolve(proposal, now=utc(proposal.now))
        tables = await fenced(self._connection, lease)
        channel = channel_of(tables, proposal.channel_id)
        known = _by_key(tables, proposal)
        if known is not None:
            rules.refuse_other_proposal(known, proposal)
            return Staged(workspace=known, repeated=True)
        _refuse_staging(tables, channel, proposal)
        workspace = proposal.staged()
        tables.workspaces[workspace.id] = workspace
        return Staged(workspace=workspace, repeated=False)

    async def start(self, start: Start, *, lease: Lease) -> Asked:
        proposal = attrs.evolve(start.proposal, now=utc(start.proposal.now))
        start = attrs.evolve(start, proposal=proposal)
        tables = await fenced(self._connection, lease)
        channel = channel_of(tables, proposal.channel_id)
        known = _by_key(tables, proposal)
        if known is not None:
            turn = _initial(tables, known)
            workspace = rules.started_before(known, turn, start)
            _keep(tables, workspace)
            assert turn is not None, "a request without its initial turn was refused"
            return Asked(workspace=workspace, turn=turn, message=_asking(tables, turn), repeated=True)
        _refuse_staging(tables, channel, proposal)
        workspace = start.staged()
        ask = start.ask()
        turn, message = ask.turn(1), ask.message(1)
        _refuse_taken(tables, turn, message)
        _keep(tables, workspace, turn, message)
        return Asked(workspace=workspace, turn=turn, message=message, repeated=False)

    async def confirm(self, ask: Ask, *, lease: Lease) -> Asked:
        ask = attrs.evolve(ask, kind=TurnKind.INITIAL, now=utc(ask.now))
        tables = await fenced(self._connection, lease)
        channel, workspace = _found(tables, ask.channel_id, ask.workspace_id)
        if repeat := _asked_before(tables, workspace, ask):
            return repeat
        return _kept(tables, rules.confirmed(channel, workspace, ask))

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        ask = attrs.evolve(ask, now=utc(ask.now))
        tables = await fenced(self._connection, lease)
        channel, workspace = _found(tables, ask.channel_id, ask.workspace_id)
        refuse_initial(ask)
        if repeat := _asked_before(tables, workspace, ask):
            return repeat
        return _kept(tables, rules.asked_again(channel, workspace, ask))

    # The jobs

    async def link_job(
        self,
        channel_id: ChannelId,
        workspace_id: WorkspaceId,
        turn_id: TurnId,
        role: JobRole,
        job_id: JobId,
        *,
        now: datetime,
        lease: Lease,
    ) -> Linked:
        tables = await fenced(self._connection, lease)
        _, workspace = _found(tables, channel_id, workspace_id)
        turn = tables.turns.get(turn_id)
        if turn is None or turn.workspace_id != workspace_id:
            raise TurnMissing(turn_id)
        job = tables.jobs.get(job_id)
        if job is None or job.channel_id != channel_id:
            raise JobMissing(job_id)
        elsewhere = any(job_id in (other.evidence_job, other.answer_job) for other in tables.turns.values())
        moved = rules.linked(workspace, turn, role, _linked(tables, job), elsewhere=elsewhere, now=utc(now))
        if moved is None:
            return Linked(workspace=workspace, turn=turn, repeated=True)
        _keep(tables, *moved)
        return Linked(workspace=moved[0], turn=moved[1], repeated=False)

    async def reset_initial(
        self,
        channel_id: ChannelId,
        workspace_id: WorkspaceId,
        *,
        evidence_job: JobId | None,
        answer_job: JobId | None,
        now: datetime,
        lease: Lease,
    ) -> Linked:
        tables = await fenced(self._connection, lease)
        channel, workspace = _found(tables, channel_id, workspace_id)
        turn = rules.refuse_other_links(
            channel, workspace, _initial(tables, workspace), evidence_job=evidence_job, answer_job=answer_job
        )
        jobs = [_job(tables, job) for job in (evidence_job, answer_job) if job is not None]
        if not jobs:
            return Linked(workspace=workspace, turn=turn, repeated=True)
        moved = rules.unlinked(workspace, turn, [job.state for job in jobs], utc(now))
        _keep(tables, *moved)
        return Linked(workspace=moved[0], turn=moved[1], repeated=False)

    async def append_agent_message(self, said: AgentMessage, *, lease: Lease) -> Said:
        said = attrs.evolve(said, now=utc(said.now))
        tables = await fenced(self._connection, lease)
        _, workspace = _found(tables, said.channel_id, said.workspace_id)
        known = tables.messages.get(said.message_id) or next(
            (
                message
                for message in tables.messages.values()
                if message.author is Author.AGENT and message.source_job == said.source_job
            ),
            None,
        )
        if known is not None:
            rules.refuse_other_message(known, said)
            return Said(workspace=workspace, message=known, repeated=True)
        turn = tables.turns.get(said.turn_id)
        if turn is None or turn.workspace_id != workspace.id:
            raise TurnMissing(said.turn_id)
        moved = rules.said(workspace, turn, said)
        _keep(tables, *moved)
        return Said(workspace=moved[0], message=moved[1], repeated=False)

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        now = utc(report.now)
        history = born(report.initial, now)
        tables = await fenced(self._connection, lease)
        parent, workspace = _found(tables, report.channel_id, report.workspace_id)
        turn = rules.refuse_other_answer(workspace, _initial(tables, workspace), report.answer_job)
        if workspace.published_channel is not None:
            return Published(workspace=workspace, channel=tables.channels[workspace.published_channel], repeated=True)
        answer = tables.jobs.get(report.answer_job)
        rules.refuse_unpublishable(parent, workspace, turn, None if answer is None else _linked(tables, answer))
        taken = {title_key(other.title) for other in tables.channels.values() if other.repository.id == parent.repository.id}
        title = free_title(report.title, lambda wanted: title_key(wanted) in taken)
        creation = ChannelCreate(
            id=report_id(parent.repository.id, workspace.id),
            repository=parent.repository,
            title=title,
            created_by=workspace.created_by,
            now=now,
            titles=TitlePolicy.UNIQUE,
            parent_id=parent.id,
        )
        child = create(tables, creation, history)
        moved = rules.published(workspace, child.id, now)
        _keep(tables, moved)
        return Published(workspace=moved, channel=child, repeated=False)

    async def mark_reference_placed(
        self, channel_id: ChannelId, workspace_id: WorkspaceId, *, now: datetime, lease: Lease
    ) -> None:
        tables = await fenced(self._connection, lease)
        workspace = tables.workspaces.get(workspace_id)
        if workspace is None or workspace.channel_id != channel_id or workspace.inline_reference is None:
            raise ResearchRefused(workspace_id, "no-reference")
        _keep(tables, attrs.evolve(workspace, inline_reference=InlineReference.PLACED))

    # Reading

    async def get(self, channel_id: ChannelId, workspace_id: WorkspaceId) -> Transcript | None:
        tables = await self._connection.turn()
        workspace = tables.workspaces.get(workspace_id)
        if workspace is None or workspace.channel_id != channel_id:
            return None
        transcript = Transcript(
            workspace=workspace,
            turns=tuple(_turns(tables, workspace)),
            messages=tuple(_messages(tables, workspace)),
        )
        transcript.refuse_inconsistent()
        return transcript

    async def find(self, channel_id: ChannelId, idempotency_key: str) -> Workspace | None:
        tables = await self._connection.turn()
        return _first(_of(tables, channel_id), lambda workspace: workspace.idempotency_key == idempotency_key)

    async def find_published(self, channel_id: ChannelId, published: ChannelId) -> Workspace | None:
        tables = await self._connection.turn()
        return _first(_of(tables, channel_id), lambda workspace: workspace.published_channel == published)

    async def find_turn(self, channel_id: ChannelId, job_id: JobId) -> Turn | None:
        tables = await self._connection.turn()
        turns = (turn for workspace in _of(tables, channel_id) for turn in _turns(tables, workspace))
        return next((turn for turn in turns if job_id in (turn.evidence_job, turn.answer_job)), None)

    async def list(self, channel_id: ChannelId, *, limit: int = 50, include_planner: bool = True) -> tuple[Workspace, ...]:
        tables = await self._connection.turn()
        return tuple(_listed(tables, channel_id, include_planner)[: min(max(limit, 1), PAGE_LIMIT)])

    async def list_repository(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = MOST_WORKSPACES,
        include_archived: bool = False,
        include_planner: bool = True,
    ) -> RepositoryResearch:
        tables = await self._connection.turn()
        left = min(max(limit, 1), MOST_WORKSPACES)
        channels = [
            channel
            for channel in tables.channels.values()
            if channel.repository.id == repository_id and (include_archived or not channel.archived)
        ]
        channels.sort(key=lambda channel: channel.id)
        channels.sort(key=lambda channel: channel.created_at, reverse=True)
        groups: list[ChannelResearch] = []
        for channel in channels[:MOST_CHANNELS]:
            shown = _listed(tables, channel.id, include_planner)[: min(PAGE_LIMIT, left)]
            left -= len(shown)
            if shown:
                groups.append(ChannelResearch(channel=channel, workspaces=tuple(shown)))
        full = any(len(group.workspaces) == PAGE_LIMIT for group in groups)
        return RepositoryResearch(channels=tuple(groups), truncated=len(channels) > MOST_CHANNELS or left == 0 or full)

    async def reference_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> tuple[Workspace, ...]:
        tables = await self._connection.turn()

        def unplaced(workspace: Workspace) -> bool:
            turn = _initial(tables, workspace)
            idle = turn is not None and turn.evidence_job is None
            return workspace.inline_reference is InlineReference.PENDING or (
                workspace.inline_reference is InlineReference.PLACED and idle
            )

        return tuple(_after(filter(unplaced, _of(tables, channel_id)), after, limit))

    async def terminal_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> Sequence[TerminalRecovery]:
        tables = await self._connection.turn()
        ended = [
            TerminalRecovery(workspace_id=workspace.id, channel_id=workspace.channel_id, job_id=job)
            for workspace in _after(_of(tables, channel_id), after, None)
            if (job := _ended_by(tables, workspace)) is not None
        ]
        return tuple(ended[: min(max(limit, 1), PAGE_LIMIT)])


def _linked(tables: Tables, job: Job) -> rules.LinkedJob:
    current = tables.job_targets[job.channel_id, job.target_key] == job.target_generation
    return rules.LinkedJob(job=job, current=current, artifact=job.id in tables.artifacts)


def _job(tables: Tables, job_id: JobId) -> Job:
    if job_id not in tables.jobs:
        raise JobMissing(job_id)
    return tables.jobs[job_id]


def _of(tables: Tables, channel_id: ChannelId | None) -> list[Workspace]:
    return [workspace for workspace in tables.workspaces.values() if channel_id in (None, workspace.channel_id)]


def _first(workspaces: Iterable[Workspace], fits: Callable[[Workspace], bool]) -> Workspace | None:
    return next(filter(fits, workspaces), None)


def _after(workspaces: Iterable[Workspace], after: WorkspaceId | None, limit: int | None) -> list[Workspace]:
    ordered = sorted(workspaces, key=lambda workspace: workspace.id)
    if after is not None:
        last = key(after, "after")
        ordered = [workspace for workspace in ordered if workspace.id > last]
    return ordered if limit is None else ordered[: min(max(limit, 1), PAGE_LIMIT)]


def _listed(tables: Tables, channel_id: ChannelId, include_planner: bool) -> list[Workspace]:
    shown = [workspace for workspace in _of(tables, channel_id) if include_planner or workspace.origin is not Origin.PLANNER]
    shown.sort(key=lambda workspace: workspace.id)
    shown.sort(key=lambda workspace: workspace.updated_at, reverse=True)
    return shown


def _found(tables: Tables, channel_id: ChannelId, workspace_id: WorkspaceId) -> tuple[Channel, Workspace]:
    channel = channel_of(tables, channel_id)
    workspace = tables.workspaces.get(workspace_id)
    if workspace is None or workspace.channel_id != channel_id:
        raise WorkspaceMissing(workspace_id)
    return channel, workspace


def _turns(tables: Tables, workspace: Workspace) -> list[Turn]:
    turns = (turn for turn in tables.turns.values() if turn.workspace_id == workspace.id)
    return sorted(turns, key=lambda turn: turn.ordinal)


def _messages(tables: Tables, workspace: Workspace) -> list[Message]:
    messages = (message for message in tables.messages.values() if message.workspace_id == workspace.id)
    return sorted(messages, key=lambda message: message.sequence)


def _initial(tables: Tables, workspace: Workspace) -> Turn | None:
    return next((turn for turn in _turns(tables, workspace) if turn.ordinal == 1), None)


def _by_key(tables: Tables, proposal: Proposal) -> Workspace | None:
    return _first(_of(tables, proposal.channel_id), lambda workspace: workspace.idempotency_key == proposal.idempotency_key)


def _refuse_staging(tables: Tables, channel: Channel, proposal: Proposal) -> None:
    rules.refuse_archived(channel)
    if proposal.created_by not in tables.users:
        raise UserMissing(proposal.created_by)
    if proposal.id in tables.workspaces:
        raise IdempotencyConflict(proposal.id)


def _refuse_taken(tables: Tables, turn: Turn, message: Message) -> None:
    if turn.id in tables.turns or message.id in tables.messages:
        raise IdempotencyConflict(turn.id)


def _asking(tables: Tables, turn: Turn) -> Message:
    """The member's message that asked for a turn."""
    return next(
        message for message in tables.messages.values() if message.turn_id == turn.id and message.author is Author.MEMBER
    )


def _asked_before(tables: Tables, workspace: Workspace, ask: Ask) -> Asked | None:
    turn = next((turn for turn in _turns(tables, workspace) if turn.request_id == ask.request_id), None)
    if turn is None:
        return None
    message = _asking(tables, turn)
    rules.refuse_other_ask(turn, message, ask)
    return Asked(workspace=workspace, turn=turn, message=message, repeated=True)


def _kept(tables: Tables, asked: tuple[Workspace, Turn, Message]) -> Asked:
    workspace, turn, message = asked
    if turn.requested_by not in tables.users:
        raise UserMissing(turn.requested_by)
    _refuse_taken(tables, turn, message)
    _keep(tables, workspace, turn, message)
    return Asked(workspace=workspace, turn=turn, message=message, repeated=False)


def _keep(tables: Tables, *values: Workspace | Turn | Message) -> None:
    for value in values:
        match value:
            case Workspace():
                tables.workspaces[value.id] = value
            case Turn():
                tables.turns[value.id] = value
            case Message():
                tables.messages[value.id] = value


def _ended_by(tables: Tables, workspace: Workspace) -> JobId | None:
    turn = _initial(tables, workspace)
    answer = None if turn is None or turn.answer_job is None else tables.jobs[turn.answer_job]
    evidence = None if turn is None or turn.evidence_job is None else tables.jobs[turn.evidence_job]
    return rules.ended_by(workspace, turn, answer, evidence)
