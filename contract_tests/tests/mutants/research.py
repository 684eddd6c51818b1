"""Research requests with gaps, with somebody else's work, or with two reports."""

from __future__ import annotations

from datetime import datetime

import attrs

from chopin_core.errors import ResearchRefused
from chopin_core.ids import ChannelId, JobId, TurnId, WorkspaceId
from chopin_core.memory.research import MemoryResearchStore
from chopin_core.ports.leases import Lease
from chopin_core.ports.research import Asked, Linked, Published, Report, Staged
from chopin_core.research.transcript import Ask, JobRole
from chopin_core.research.workspace import Proposal

from mutants import memory


class LeavesAGap(MemoryResearchStore):
    """The ordinal after the next is given to a turn."""

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        asked = await super().append_turn(ask, lease=lease)
        if not asked.repeated:
            asked = attrs.evolve(asked, turn=attrs.evolve(asked.turn, ordinal=asked.turn.ordinal + 1))
            self._connection.tables.turns[asked.turn.id] = asked.turn
        return asked


class ComparesNothing(MemoryResearchStore):
    """A key that is in use is a repeat, whatever the request."""

    async def create(self, proposal: Proposal, *, lease: Lease) -> Staged:
        for known in self._connection.tables.workspaces.values():
            if (known.channel_id, known.idempotency_key) == (proposal.channel_id, proposal.idempotency_key):
                proposal = attrs.evolve(proposal, fingerprint=known.fingerprint)
        return await super().create(proposal, lease=lease)


class AsksOnAnyRepeat(MemoryResearchStore):
    """A request id that is in use is a repeat, whatever is asked."""

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        for turn in self._connection.tables.turns.values():
            if (turn.workspace_id, turn.request_id) == (ask.workspace_id, ask.request_id):
                ask = attrs.evolve(ask, kind=turn.kind, fingerprint=turn.fingerprint, question=turn.question)
        return await super().append_turn(ask, lease=lease)


class LinksTheTaken(MemoryResearchStore):
    """A turn that has a job is given another one."""

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
        turns = self._connection.tables.turns
        place = (channel_id, workspace_id, turn_id, role, job_id)
        try:
            return await super().link_job(*place, now=now, lease=lease)
        except ResearchRefused as refused:
            if refused.reason != "linked":
                raise
            turn = turns[turn_id]
            turns[turn_id] = (
                attrs.evolve(turn, evidence_job=None) if role is JobRole.EVIDENCE else attrs.evolve(turn, answer_job=None)
            )
            return await super().link_job(*place, now=now, lease=lease)


class LinksForeignJobs(MemoryResearchStore):
    """Whatever a job is for, it may be linked."""

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
        tables = self._connection.tables
        try:
            return await super().link_job(channel_id, workspace_id, turn_id, role, job_id, now=now, lease=lease)
        except ResearchRefused as refused:
            if refused.reason != "job-unfit":
                raise
            turn = tables.turns[turn_id] = tables.turns[turn_id].linked(role, job_id, now)
            workspace = tables.workspaces[workspace_id] = tables.workspaces[workspace_id].moved(now)
            return Linked(workspace=workspace, turn=turn, repeated=False)


class PublishesWithoutLink(MemoryResearchStore):
    """The child is there, and its request does not know it."""

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        published = await super().publish(report, lease=lease)
        unlinked = attrs.evolve(published.workspace, published_channel=None)
        self._connection.tables.workspaces[unlinked.id] = unlinked
        return published


class PublishesTwice(MemoryResearchStore):
    """A repeat makes one more child, and the request is about that one from then on."""

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        tables = self._connection.tables
        workspace = tables.workspaces.get(report.workspace_id)
        if workspace is not None and workspace.published_channel is not None:
            first = tables.channels.pop(workspace.published_channel)
            tables.channels[ChannelId(f"{first.id} before")] = attrs.evolve(first, id=ChannelId(f"{first.id} before"))
            tables.workspaces[workspace.id] = attrs.evolve(workspace, published_channel=None)
        return await super().publish(report, lease=lease)


class PublishesInTwoSteps(MemoryResearchStore):
    """The child is there before the request knows it."""

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        workspaces = self._connection.tables.workspaces
        published = await super().publish(report, lease=lease)
        if not published.repeated:
            workspaces[report.workspace_id] = attrs.evolve(published.workspace, published_channel=None)
            await self._connection.turn()
            workspaces[report.workspace_id] = published.workspace
        return published


gap_left = memory.adapter(research=LeavesAGap)
compared_by_nothing = memory.adapter(research=ComparesNothing)
asked_on_any_repeat = memory.adapter(research=AsksOnAnyRepeat)
taken_linked = memory.adapter(research=LinksTheTaken)
foreign_linked = memory.adapter(research=LinksForeignJobs)
published_without_link = memory.adapter(research=PublishesWithoutLink)
published_twice = memory.adapter(research=PublishesTwice)
published_in_two_steps = memory.adapter(research=PublishesInTwoSteps)
