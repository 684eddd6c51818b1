"""The research store: the domain's rules, applied to rows that nobody else can move meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import attrs
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.channel import Channel, TitlePolicy
from chopin_core.errors import (
    ChannelMissing,
    JobMissing,
    ResearchRefused,
    WorkspaceMissing,
)
from chopin_core.ids import ChannelId, JobId, RepositoryId, TurnId, WorkspaceId
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
    MOST_MESSAGES,
    MOST_TURNS,
    AgentMessage,
    Ask,
    JobRole,
    Start,
    Transcript,
    Turn,
    TurnKind,
    refuse_initial,
)
from chopin_core.research.workspace import InlineReference, Proposal, Workspace, report_id
from chopin_storage_pg import channels as channel_store
from chopin_storage_pg import fences, job_moves, research_lists, rows
from chopin_storage_pg import research_moves as moves
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.tables import research_messages, research_turns, research_workspaces
from chopin_storage_pg.titles import free_title_in, lock_titles, repository_of


class PgResearchStore:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    # Staging

    async def create(self, proposal: Proposal, *, lease: Lease) -> Staged:
        async with self._in_channel(proposal.channel_id, lease) as (connection, channel):
            known = await moves.find_by_key(connection, proposal)
            if known is not None:
                rules.refuse_other_proposal(known, proposal)
                return Staged(workspace=known, repeated=True)
            await moves.refuse_staging(connection, channel, proposal)
            await moves.add(connection, proposal.staged())
            return Staged(workspace=await moves.known_workspace(connection, proposal.id), repeated=False)

    async def start(self, start: Start, *, lease: Lease) -> Asked:
        proposal = start.proposal
        async with self._in_channel(proposal.channel_id, lease) as (connection, channel):
            known = await moves.find_by_key(connection, proposal)
            if known is not None:
                turn = await moves.initial_turn(connection, known)
                workspace = rules.started_before(known, turn, start)
                assert turn is not None, "a request without its initial turn was refused"
                await moves.write(connection, workspace)
                return Asked(
                    workspace=workspace, turn=turn, message=await moves.asking_message(connection, turn), repeated=True
                )
            await moves.refuse_staging(connection, channel, proposal)
            ask = start.ask()
            return await moves.keep_begun(connection, start.staged(), ask.turn(1), ask.message(1))

    async def confirm(self, ask: Ask, *, lease: Lease) -> Asked:
        ask = attrs.evolve(ask, kind=TurnKind.INITIAL)
        async with self._in_workspace(ask.channel_id, ask.workspace_id, lease) as (connection, channel, workspace):
            if repeat := await moves.asked_before(connection, workspace, ask):
                return repeat
            return await moves.keep_asked(connection, *rules.confirmed(channel, workspace, ask))

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        async with self._in_workspace(ask.channel_id, ask.workspace_id, lease) as (connection, channel, workspace):
            refuse_initial(ask)
            if repeat := await moves.asked_before(connection, workspace, ask):
                return repeat
            return await moves.keep_asked(connection, *rules.asked_again(channel, workspace, ask))

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
        async with self._in_workspace(channel_id, workspace_id, lease) as (connection, _, workspace):
            turn = await moves.find_turn(connection, workspace, turn_id)
            job = await moves.linked_job(connection, channel_id, job_id)
            if job is None:
                raise JobMissing(job_id)
            worked = select(research_turns.c.id).where(
                or_(research_turns.c.evidence_job_id == job_id, research_turns.c.answer_job_id == job_id)
            )
            elsewhere = await connection.scalar(worked) is not None
            moved = rules.linked(workspace, turn, role, job, elsewhere=elsewhere, now=rows.utc(now))
            if moved is None:
                return Linked(workspace=workspace, turn=turn, repeated=True)
            await moves.write(connection, *moved)
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
        async with self._in_workspace(channel_id, workspace_id, lease) as (connection, channel, workspace):
            initial = await moves.initial_turn(connection, workspace)
            turn = rules.refuse_other_links(channel, workspace, initial, evidence_job=evidence_job, answer_job=answer_job)
            states = []
            for job_id in (evidence_job, answer_job):
                if job_id is not None:
                    job = await moves.linked_job(connection, channel_id, job_id)
                    if job is None:
                        raise JobMissing(job_id)
                    states.append(job.job.state)
            if not states:
                return Linked(workspace=workspace, turn=turn, repeated=True)
            moved = rules.unlinked(workspace, turn, states, rows.utc(now))
            await moves.write(connection, *moved)
            return Linked(workspace=moved[0], turn=moved[1], repeated=False)

    async def append_agent_message(self, said: AgentMessage, *, lease: Lease) -> Said:
        said = attrs.evolve(said, now=rows.utc(said.now))
        async with self._in_workspace(said.channel_id, said.workspace_id, lease) as (connection, _, workspace):
            same = or_(research_messages.c.id == said.message_id, research_messages.c.source_job_id == said.source_job)
            if known := await moves.messages(connection, select(research_messages).where(same)):
                rules.refuse_other_message(known[0], said)
                return Said(workspace=workspace, message=known[0], repeated=True)
            turn = await moves.find_turn(connection, workspace, said.turn_id)
            moved, message = rules.said(workspace, turn, said)
            await moves.write(connection, moved)
            await moves.add(connection, message)
            return Said(workspace=moved, message=message, repeated=False)

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        now = rows.utc(report.now)
        async with self._in_workspace(report.channel_id, report.workspace_id, lease, titled=True) as (
            connection,
            parent,
            workspace,
        ):
            turn = rules.refuse_other_answer(workspace, await moves.initial_turn(connection, workspace), report.answer_job)
            if workspace.published_channel is not None:
                child = await channel_store.known(connection, workspace.published_channel)
                return Published(workspace=workspace, channel=child, repeated=True)
            answer = await moves.linked_job(connection, report.channel_id, report.answer_job)
            rules.refuse_unpublishable(parent, workspace, turn, answer)
            child = await channel_store.create(
                connection,
                ChannelCreate(
                    id=report_id(parent.repository.id, workspace.id),
                    repository=parent.repository,
                    title=await free_title_in(connection, parent.repository.id, report.title),
                    created_by=workspace.created_by,
                    now=now,
                    titles=TitlePolicy.UNIQUE,
                    parent_id=parent.id,
                    initial=report.initial,
                ),
            )
            moved = rules.published(workspace, child.id, now)
            await moves.write(connection, moved)
            return Published(workspace=moved, channel=child, repeated=False)

    async def mark_reference_placed(
        self, channel_id: ChannelId, workspace_id: WorkspaceId, *, now: datetime, lease: Lease
    ) -> None:
        async with job_moves.guarded(self._connections, lease) as connection:
            await job_moves.hold_channel(connection, channel_id)
            await fences.judge(connection, lease)
            workspace = await moves.find_workspace(connection, channel_id, workspace_id)
            if workspace is None or workspace.inline_reference is None:
                raise ResearchRefused(workspace_id, "no-reference")
            await moves.write(connection, attrs.evolve(workspace, inline_reference=InlineReference.PLACED))

    # Reading

    async def get(self, channel_id: ChannelId, workspace_id: WorkspaceId) -> Transcript | None:
        async with self._connections.reading() as connection:
            workspace = await moves.find_workspace(connection, channel_id, workspace_id)
            if workspace is None:
                return None
            turns = moves.turns_of(workspace.id).limit(MOST_TURNS + 1)
            messages = (
                select(research_messages)
                .where(research_messages.c.workspace_id == workspace.id)
                .order_by(research_messages.c.sequence)
                .limit(MOST_MESSAGES + 1)
            )
            transcript = Transcript(
                workspace=workspace,
                turns=tuple(await moves.turns(connection, turns)),
                messages=tuple(await moves.messages(connection, messages)),
            )
        transcript.refuse_inconsistent()
        return transcript

    async def find(self, channel_id: ChannelId, idempotency_key: str) -> Workspace | None:
        return await self._first(channel_id, idempotency_key, column="idempotency_key")

    async def find_published(self, channel_id: ChannelId, published: ChannelId) -> Workspace | None:
        return await self._first(channel_id, published, column="published_channel_id")

    async def find_turn(self, channel_id: ChannelId, job_id: JobId) -> Turn | None:
        if not rows.can_exist(channel_id, job_id):
            return None
        query = (
            select(research_turns)
            .join(research_workspaces, research_workspaces.c.id == research_turns.c.workspace_id)
            .where(
                research_workspaces.c.channel_id == channel_id,
                or_(research_turns.c.evidence_job_id == job_id, research_turns.c.answer_job_id == job_id),
            )
        )
        async with self._connections.single() as connection:
            found = await moves.turns(connection, query)
        return found[0] if found else None

    async def list(self, channel_id: ChannelId, *, limit: int = 50, include_planner: bool = True) -> tuple[Workspace, ...]:
        if not rows.can_exist(channel_id):
            return ()
        async with self._connections.single() as connection:
            query = research_lists.listed(channel_id, include_planner).limit(research_lists.clamped(limit))
            return tuple(await moves.workspaces(connection, query))

    async def list_repository(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = MOST_WORKSPACES,
        include_archived: bool = False,
        include_planner: bool = True,
    ) -> RepositoryResearch:
        if not rows.can_exist(repository_id):
            return RepositoryResearch(channels=(), truncated=False)
        left = research_lists.clamped(limit, MOST_WORKSPACES)
        async with self._connections.reading() as connection:
            ids = list(await connection.scalars(research_lists.documents(repository_id, include_archived)))
            made = await moves.workspaces(connection, research_lists.of_documents(ids[:MOST_CHANNELS], include_planner))
            by_channel: dict[str, list[Workspace]] = {}
            for workspace in made:
                by_channel.setdefault(workspace.channel_id, []).append(workspace)
            groups: list[ChannelResearch] = []
            for channel_id in ids[:MOST_CHANNELS]:
                shown = by_channel.get(channel_id, [])[:left]
                left -= len(shown)
                if shown:
                    channel = await channel_store.known(connection, ChannelId(channel_id))
                    groups.append(ChannelResearch(channel=channel, workspaces=tuple(shown)))
        full = any(len(group.workspaces) == PAGE_LIMIT for group in groups)
        return RepositoryResearch(channels=tuple(groups), truncated=len(ids) > MOST_CHANNELS or left == 0 or full)

    async def reference_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> tuple[Workspace, ...]:
        async with self._connections.single() as connection:
            return tuple(await moves.workspaces(connection, research_lists.unplaced(limit, after, channel_id)))

    async def terminal_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> Sequence[TerminalRecovery]:
        async with self._connections.single() as connection:
            found = await connection.execute(research_lists.ended(limit, after, channel_id))
            return tuple(
                TerminalRecovery(
                    workspace_id=WorkspaceId(row.id), channel_id=ChannelId(row.channel_id), job_id=JobId(row.job_id)
                )
                for row in found
            )

    async def _first(self, channel_id: ChannelId, value: str, *, column: str) -> Workspace | None:
        if not rows.can_exist(channel_id, value):
            return None
        query = select(research_workspaces).where(
            research_workspaces.c.channel_id == channel_id, research_workspaces.c[column] == value
        )
        async with self._connections.single() as connection:
            found = await moves.workspaces(connection, query)
        return found[0] if found else None

    @asynccontextmanager
    async def _in_channel(
        self, channel_id: ChannelId, lease: Lease, *, titled: bool = False
    ) -> AsyncIterator[tuple[AsyncConnection, Channel]]:
        """A transaction under a held lease, in which no request moves and the channel is neither deleted nor archived."""
        async with job_moves.guarded(self._connections, lease) as connection:
            if titled and rows.can_exist(channel_id):
                await _lock_titles(connection, channel_id)
            missing = await job_moves.hold_channel(connection, channel_id, against_archiving=True) is None
            await fences.judge(connection, lease)
            if missing:
                raise ChannelMissing(channel_id)
            yield connection, await channel_store.known(connection, channel_id)

    @asynccontextmanager
    async def _in_workspace(
        self, channel_id: ChannelId, workspace_id: WorkspaceId, lease: Lease, *, titled: bool = False
    ) -> AsyncIterator[tuple[AsyncConnection, Channel, Workspace]]:
        async with self._in_channel(channel_id, lease, titled=titled) as (connection, channel):
            workspace = await moves.find_workspace(connection, channel_id, workspace_id)
            if workspace is None:
                raise WorkspaceMissing(workspace_id)
            yield connection, channel, workspace


async def _lock_titles(connection: AsyncConnection, channel_id: ChannelId) -> None:
    try:
        await lock_titles(connection, await repository_of(connection, channel_id))
    except ChannelMissing:
        return  # found out again under the lease
