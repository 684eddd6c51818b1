"""Storage of research requests: staging one, the jobs that work on it, its transcript, and the child that reports on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import attrs

from chopin_core.channel import Channel
from chopin_core.ids import ChannelId, JobId, RepositoryId, TurnId, WorkspaceId
from chopin_core.instants import aware_field
from chopin_core.ports.channels import Initial
from chopin_core.ports.leases import Lease
from chopin_core.research.transcript import AgentMessage, Ask, JobRole, Message, Start, Transcript, Turn
from chopin_core.research.workspace import Proposal, Workspace
from chopin_core.text import named_field

PAGE_LIMIT = 100
MOST_CHANNELS = 1_000
MOST_WORKSPACES = 500


@attrs.frozen(kw_only=True)
class Staged:
    """The workspace as it is now, and whether an earlier call had made it."""

    workspace: Workspace
    repeated: bool


@attrs.frozen(kw_only=True)
class Asked:
    """The workspace as it is now, the turn with its member's message, and whether an earlier call had made them."""

    workspace: Workspace
    turn: Turn
    message: Message
    repeated: bool


@attrs.frozen(kw_only=True)
class Linked:
    workspace: Workspace
    turn: Turn
    repeated: bool


@attrs.frozen(kw_only=True)
class Said:
    workspace: Workspace
    message: Message
    repeated: bool


@attrs.frozen(kw_only=True)
class Report:
    """The report to publish for an initial turn: the answer's job, and the child as it is born."""

    channel_id: ChannelId
    workspace_id: WorkspaceId
    answer_job: JobId
    title: str = attrs.field(validator=named_field)
    initial: Initial
    now: datetime = attrs.field(validator=aware_field)


@attrs.frozen(kw_only=True)
class Published:
    workspace: Workspace
    channel: Channel
    repeated: bool


@attrs.frozen(kw_only=True)
class ChannelResearch:
    """A document, and the requests made in it."""

    channel: Channel
    workspaces: tuple[Workspace, ...]


@attrs.frozen(kw_only=True)
class RepositoryResearch:
    """``truncated`` may be a false alarm, never a missed one."""

    channels: tuple[ChannelResearch, ...]
    truncated: bool


@attrs.frozen(kw_only=True)
class TerminalRecovery:
    """A request whose outcome the Planner may not have been told of."""

    workspace_id: WorkspaceId
    channel_id: ChannelId
    job_id: JobId


class ResearchStore(Protocol):
    """
    Requests by channel. Every write is guarded by a lease and raises ``LeaseLost`` first; then ``ChannelMissing``,
    ``WorkspaceMissing`` and ``TurnMissing`` where these are named and there are none in that channel.

    A write raises the workspace's revision by one and moves its activity to the later of the stored instant and ``now``,
    unless it says otherwise. A repeat changes nothing; it is answered before the archive is asked. The codes of
    ``ResearchRefused`` stand behind each method.
    """

    async def create(self, proposal: Proposal, *, lease: Lease) -> Staged:
        """
        Stage a request, unconfirmed, at revision 0. A repeat is the same idempotency key with the same fingerprint.

        Raises, after those above:
            IdempotencyConflict: the key belongs to a request with another fingerprint.
            ChannelArchived: the document is archived.
            UserMissing: there is no such creator.
            IdempotencyConflict: the id of the workspace is in use.
        """
        ...

    async def start(self, start: Start, *, lease: Lease) -> Asked:
        """
        Stage a request together with its confirmation, its initial turn and the member's message, at revision 0.

        A repeat has the same key, fingerprint, origin and message; if it asks for a reference that the request does not have
        yet, that becomes pending, without a new revision.

        Raises: as :meth:`create`; ``IdempotencyConflict`` also where the origin differs or no initial turn exists.
        """
        ...

    async def confirm(self, ask: Ask, *, lease: Lease) -> Asked:
        """
        Confirm the question, with the initial turn and the member's message. A repeat has the same request id and content.

        Raises, after those above:
            IdempotencyConflict: the request id belongs to something else.
            ChannelArchived: the document is archived.
            ResearchRefused: ``confirmed``, it was before.
        """
        ...

    async def append_turn(self, ask: Ask, *, lease: Lease) -> Asked:
        """
        Ask one more thing. A repeat has the same request id and content.

        Raises, after those above:
            InvalidField: the kind is initial.
            IdempotencyConflict: the request id belongs to something else.
            ChannelArchived: the document is archived.
            ResearchRefused: ``unconfirmed``.
        """
        ...

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
        """
        Say which job works on a turn. The same link again is a repeat. Archived documents are accepted.

        Raises, after those above:
            JobMissing: the channel has no such job.
            ResearchRefused: ``job-unfit``, its type or target is another, or a later job has the target; ``linked``, the turn
                has another job in that role.
        """
        ...

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
        """
        Unlink the jobs of the initial turn, so that others may try; a repeat finds none linked.

        Raises, after those above:
            ChannelArchived: the document is archived.
            ResearchRefused: ``published``; ``unconfirmed``; ``linked``, the turn has other jobs than these; ``open``, one may
                still finish; ``completed``, all did.
        """
        ...

    async def append_agent_message(self, said: AgentMessage, *, lease: Lease) -> Said:
        """
        Keep what the answering job has to say. A repeat has the same id or job, and says the same in the same place.

        Raises, after those above:
            IdempotencyConflict: a message of that id or job says something else.
            ResearchRefused: ``job-unfit``, the job does not answer that turn.
        """
        ...

    async def publish(self, report: Report, *, lease: Lease) -> Published:
        """
        Create the child that reports on the initial turn and link it, both or neither.

        Its id is :func:`~chopin_core.research.workspace.report_id`, its creator the request's, its title the wanted one or
        the first that is free. A repeat answers the child as it is now, whatever title it brings.

        Raises, after those above:
            ResearchRefused: ``unconfirmed``; ``linked``, the answering job is another; ``parent``, the document is a child
                itself; ``unfinished``, the job is not the completed, current one with an artifact.
            ChannelArchived: the document is archived (asked after the repeat, before ``parent`` and ``unfinished``).
        """
        ...

    async def mark_reference_placed(
        self, channel_id: ChannelId, workspace_id: WorkspaceId, *, now: datetime, lease: Lease
    ) -> None:
        """
        Note that the document shows the reference. Moves neither revision nor activity, and may be repeated.

        Raises:
            ResearchRefused: ``no-reference``, also for a workspace that does not exist.
        """
        ...

    async def get(self, channel_id: ChannelId, workspace_id: WorkspaceId) -> Transcript | None:
        """
        The whole request, or None.

        Raises:
            CorruptRecord: turns or messages are missing or out of order.
        """
        ...

    async def find(self, channel_id: ChannelId, idempotency_key: str) -> Workspace | None: ...

    async def find_published(self, channel_id: ChannelId, published: ChannelId) -> Workspace | None:
        """The request of the channel that a child reports on."""
        ...

    async def find_turn(self, channel_id: ChannelId, job_id: JobId) -> Turn | None:
        """The turn of the channel that a job works on."""
        ...

    async def list(self, channel_id: ChannelId, *, limit: int = 50, include_planner: bool = True) -> tuple[Workspace, ...]:
        """Requests by latest activity, then id; ``limit`` is clamped to 1…100, and counts after the Planner's are left out."""
        ...

    async def list_repository(
        self,
        repository_id: RepositoryId,
        *,
        limit: int = MOST_WORKSPACES,
        include_archived: bool = False,
        include_planner: bool = True,
    ) -> RepositoryResearch:
        """
        Documents by latest creation, then id (at most 1000), each with its requests as :meth:`list` has them (at most 100),
        all together at most ``limit`` (clamped to 1…500). Documents without a request are left out.
        """
        ...

    async def reference_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> tuple[Workspace, ...]:
        """
        Requests whose reference is pending, or placed while the initial turn has no evidence job; by id, after ``after``.
        ``limit`` is clamped to 1…100.

        Raises:
            InvalidField: ``after`` is no key (see ``text``).
        """
        ...

    async def terminal_recovery(
        self, *, limit: int = PAGE_LIMIT, after: WorkspaceId | None = None, channel_id: ChannelId | None = None
    ) -> Sequence[TerminalRecovery]:
        """
        Placed requests of the Planner that came to an end: the answer failed, or is completed and published, or the evidence
        failed; by id, after ``after``, each with the job that ended it. ``limit`` as there.

        Raises:
            InvalidField: ``after`` is no key (see ``text``).
        """
        ...
