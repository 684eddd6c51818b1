"""Research requests in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from chopin_core.channel import TitlePolicy, title_key
from chopin_core.errors import (
    JobMissing,
    ResearchRefused,
    TurnMissing,
)
from chopin_core.ids import ChannelId, JobId, RepositoryId, TurnId, WorkspaceId
from chopin_core.memory import research_moves as moves
from chopin_core.memory.channels import born, channel_of, create
from chopin_core.memory.leases import fenced
from chopin_core.memory.tables import Connection, utc
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
    Start,
    Transcript,
    Turn,
    TurnKind,
    refuse_initial,
)
from chopin_core.research.workspace import (
    InlineReference,
    Proposal,
    Workspace,
    free_title,
    report_id,
)


@attrs.frozen
class MemoryResearchStore:
    _connection: Connection

    # Staging

    async def create(self, proposal: Proposal, *, lease: Lease) -> Staged:
        proposal = attrs.evolve(proposal, now=utc(proposal.now))
        tables = await fenced(self._connection, lease)
        channel = channel_of(tables, proposal.channel_id)
        known = moves.find_by_key(tables, proposal.channel_id, proposal.idempotency_key)
        if known is not None:
            rules.refuse_other_proposal(known, proposal)
            return Staged(workspace=known, repeated=True)
        moves.refuse_staging(tables, channel, proposal)
        workspace = proposal.staged()
        tables.workspaces[workspace.id] = workspace
        return Staged(workspace=workspace, repeated=False)

    async def start(self, start: Start, *, lease: Lease) -> Asked:
        proposal = attrs.evolve(start.proposal, now=utc(start.proposal.now))
        start = attrs.evolve(start, proposal=proposal)
        tables = await fenced(self._connection, lease)
        channel = channel_of(tables, proposal.channel_id)
        known = moves.find_by_key(tables, proposal.channel_id, proposal.idempotency_key)
        if known is not None:
            turn = moves.initial_turn(tables, known)
            workspace = rules.started_before(known, turn, start)
            moves.keep(tables, workspace)
            assert turn is not None, "a request without its initial turn was refused"
            return Asked(workspace=workspace, turn=turn, message=moves.asking_message(tables, turn), repeated=True)
        moves.refuse_staging(tables, channel, proposal)
        workspace = start.staged()
        ask = start.ask()
        turn, message = ask.turn(1), ask.message(1)
        moves.refuse_taken(tables, turn, message)
        moves.keep(tables, workspace, turn, message)
        return Asked(workspace=workspace, turn=turn, message=message, repeated=False)

    async def confirm(self, ask: Ask, *, lease: Lease) -> Asked:
        ask = attrs.evolve(ask, kind=TurnKind.INITIAL, now=utc(ask.now))
        tables = await fenced(self._connection, lease)
        channel, workspace = moves.find_workspace(tables, ask.channel_id, ask.workspace_id)
        if repeat := moves.asked_before(tables, workspace, ask):
            return repeat
        return moves.keep_asked(tables, rules.confirmed(channel, workspace, ask))

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        ask = attrs.evolve(ask, now=utc(ask.now))
        tables = await fenced(self._connection, lease)
        channel, workspace = moves.find_workspace(tables, ask.channel_id, ask.workspace_id)
        refuse_initial(ask)
        if repeat := moves.asked_before(tables, workspace, ask):
            return repeat
        return moves.keep_asked(tables, rules.asked_again(channel, workspace, ask))

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
        _, workspace = moves.find_workspace(tables, channel_id, workspace_id)
        turn = tables.turns.get(turn_id)
        if turn is None or turn.workspace_id != workspace_id:
            raise TurnMissing(turn_id)
        job = tables.jobs.get(job_id)
        if job is None or job.channel_id != channel_id:
            raise JobMissing(job_id)
        elsewhere = any(job_id in (other.evidence_job, other.answer_job) for other in tables.turns.values())
        moved = rules.linked(workspace, turn, role, moves.linked_job(tables, job), elsewhere=elsewhere, now=utc(now))
        if moved is None:
            return Linked(workspace=workspace, turn=turn, repeated=True)
        moves.keep(tables, *moved)
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
        channel, workspace = moves.find_workspace(tables, channel_id, workspace_id)
        turn = rules.refuse_other_links(
            channel, workspace, moves.initial_turn(tables, workspace), evidence_job=evidence_job, answer_job=answer_job
        )
        jobs = [moves.known_job(tables, job) for job in (evidence_job, answer_job) if job is not None]
        if not jobs:
            return Linked(workspace=workspace, turn=turn, repeated=True)
        moved = rules.unlinked(workspace, turn, [job.state for job in jobs], utc(now))
        moves.keep(tables, *moved)
        return Linked(workspace=moved[0], turn=moved[1], repeated=False)

    async def append_agent_message(self, said: AgentMessage, *, lease: Lease) -> Said:
        said = attrs.evolve(said, now=utc(said.now))
        tables = await fenced(self._connection, lease)
        _, workspace = moves.find_workspace(tables, said.channel_id, said.workspace_id)
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
        moves.keep(tables, *moved)
        return Said(workspace=moved[0], message=moved[1], repeated=False)

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        now = utc(report.now)
        history = born(report.initial, now)
        tables = await fenced(self._connection, lease)
        parent, workspace = moves.find_workspace(tables, report.channel_id, report.workspace_id)
        turn = rules.refuse_other_answer(workspace, moves.initial_turn(tables, workspace), report.answer_job)
        if workspace.published_channel is not None:
            return Published(workspace=workspace, channel=tables.channels[workspace.published_channel], repeated=True)
        answer = tables.jobs.get(report.answer_job)
        rules.refuse_unpublishable(parent, workspace, turn, None if answer is None else moves.linked_job(tables, answer))
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
        moves.keep(tables, moved)
        return Published(workspace=moved, channel=child, repeated=False)

    async def mark_reference_placed(
        self, channel_id: ChannelId, workspace_id: WorkspaceId, *, now: datetime, lease: Lease
    ) -> None:
        tables = await fenced(self._connection, lease)
        workspace = tables.workspaces.get(workspace_id)
        if workspace is None or workspace.channel_id != channel_id or workspace.inline_reference is None:
            raise ResearchRefused(workspace_id, "no-reference")
        moves.keep(tables, attrs.evolve(workspace, inline_reference=InlineReference.PLACED))

    # Reading

    async def get(self, channel_id: ChannelId, workspace_id: WorkspaceId) -> Transcript | None:
        tables = await self._connection.turn()
        workspace = tables.workspaces.get(workspace_id)
        if workspace is None or workspace.channel_id != channel_id:
            return None
        transcript = Transcript(
            workspace=workspace,
            turns=tuple(moves.turns_of(tables, workspace)),
            messages=tuple(moves.messages_of(tables, workspace)),
        )
        transcript.refuse_inconsistent()
        return transcript

    async def find(self, channel_id: ChannelId, idempotency_key: str) -> Workspace | None:
        tables = await self._connection.turn()
        return moves.first(
            moves.requests_of(tables, channel_id), lambda workspace: workspace.idempotency_key == idempotency_key
        )

    async def find_published(self, channel_id: ChannelId, published: ChannelId) -> Workspace | None:
        tables = await self._connection.turn()
        return moves.first(moves.requests_of(tables, channel_id), lambda workspace: workspace.published_channel == published)

    async def find_turn(self, channel_id: ChannelId, job_id: JobId) -> Turn | None:
        tables = await self._connection.turn()
        turns = (turn for workspace in moves.requests_of(tables, channel_id) for turn in moves.turns_of(tables, workspace))
        return next((turn for turn in turns if job_id in (turn.evidence_job, turn.answer_job)), None)

    async def list(self, channel_id: ChannelId, *, limit: int = 50, include_planner: bool = True) -> tuple[Workspace, ...]:
        tables = await self._connection.turn()
        return tuple(moves.listed(tables, channel_id, include_planner)[: min(max(limit, 1), PAGE_LIMIT)])

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
            shown = moves.listed(tables, channel.id, include_planner)[: min(PAGE_LIMIT, left)]
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
            turn = moves.initial_turn(tables, workspace)
            idle = turn is not None and turn.evidence_job is None
            return workspace.inline_reference is InlineReference.PENDING or (
                workspace.inline_reference is InlineReference.PLACED and idle
            )

        return tuple(moves.after_id(filter(unplaced, moves.requests_of(tables, channel_id)), after, limit))

    async def terminal_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> Sequence[TerminalRecovery]:
        tables = await self._connection.turn()
        ended = [
            TerminalRecovery(workspace_id=workspace.id, channel_id=workspace.channel_id, job_id=job)
            for workspace in moves.after_id(moves.requests_of(tables, channel_id), after, None)
            if (job := moves.ended_by(tables, workspace)) is not None
        ]
        return tuple(ended[: min(max(limit, 1), PAGE_LIMIT)])
