"""What the in-memory adapter keeps: the very texts and bytes that PostgreSQL would, so that it cannot be more lenient."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import attrs

from chopin_core.channel import Channel
from chopin_core.counters import Epoch, JobChannelRevision, StorageRevision, StorageSequence, TargetGeneration
from chopin_core.errors import StorageUnavailable
from chopin_core.ids import (
    ChannelId,
    JobId,
    MachineId,
    MessageId,
    OperationId,
    RepositoryId,
    SessionId,
    TurnId,
    UserId,
    WorkspaceId,
)
from chopin_core.jobs.job import Job
from chopin_core.jsonvalue import decode, encode
from chopin_core.people import User
from chopin_core.ports.agents import Agent
from chopin_core.ports.collaboration import CommitResult, Event, Snapshot, StoredEvent, StoredUpdate
from chopin_core.ports.images import Image
from chopin_core.ports.jobs import Artifact
from chopin_core.ports.leases import Lease
from chopin_core.ports.machines import Machine
from chopin_core.ports.navigation import Navigation, Project
from chopin_core.ports.web_sessions import WebSession
from chopin_core.research.transcript import Message, Turn
from chopin_core.research.workspace import Workspace
from chopin_core.sidecar import SidecarPatch, SidecarRecord, unanswered_decisions


def utc(instant: datetime) -> datetime:
    """The instant as every adapter gives it back."""
    return instant.astimezone(UTC)


@attrs.frozen(kw_only=True)
class KeptSidecar:
    """A sidecar as JSON text: a copy that shares nothing with the value it was made from."""

    head: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, written: SidecarRecord | SidecarPatch) -> KeptSidecar:
        return cls(head=encode(written.head), sections={name: encode(value) for name, value in written.sections.items()})

    def over(self, before: KeptSidecar | None, removed: frozenset[str]) -> KeptSidecar:
        """What a patch leaves: its head and its sections, and those from before that it does not remove."""
        kept = {} if before is None else {name: text for name, text in before.sections.items() if name not in removed}
        return KeptSidecar(head=self.head, sections={**kept, **self.sections})

    def record(self) -> SidecarRecord:
        return SidecarRecord(
            head=decode(self.head, "sidecar head"),
            sections={name: decode(text, f"section {name}") for name, text in self.sections.items()},
        )

    def unanswered_decisions(self) -> int:
        return unanswered_decisions(decode(self.sections.get("questions", "null"), "section questions"))


@attrs.frozen(kw_only=True)
class KeptSnapshot:
    generation: str
    revision: StorageRevision
    through: StorageSequence
    epoch: Epoch
    source: str
    source_hash: str
    document: bytes
    sidecar: KeptSidecar
    created_at: datetime

    def snapshot(self) -> Snapshot:
        return Snapshot(
            generation=self.generation,
            revision=self.revision,
            through=self.through,
            epoch=self.epoch,
            source=self.source,
            source_hash=self.source_hash,
            document=self.document,
            sidecar=self.sidecar.record(),
            created_at=self.created_at,
        )


@attrs.frozen(kw_only=True)
class KeptEvent:
    sequence: StorageSequence
    ordinal: int
    id: str
    kind: str
    payload: str
    created_at: datetime

    def event(self) -> StoredEvent:
        event = Event(id=self.id, kind=self.kind, payload=decode(self.payload, "event"), created_at=self.created_at)
        return StoredEvent(sequence=self.sequence, ordinal=self.ordinal, event=event)


@attrs.frozen(kw_only=True)
class KeptOperation:
    result: CommitResult
    kept_at: datetime
    """On the clock of storage."""


@attrs.define(kw_only=True)
class History:
    """Everything of one channel that its collaboration store keeps."""

    latest: StorageSequence = attrs.field(default=StorageSequence(0))
    sidecar: KeptSidecar | None = None
    snapshot: KeptSnapshot | None = None
    operations: dict[OperationId, KeptOperation] = attrs.field(factory=dict)
    """By sequence, as they were kept."""
    updates: list[StoredUpdate] = attrs.field(factory=list)
    events: dict[str, KeptEvent] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class KeptMachine:
    machine: Machine
    token_hash: bytes


@attrs.define
class Tables:
    """One database. Storages that are given the same one see the same data, as processes would."""

    users: dict[UserId, User] = attrs.field(factory=dict)
    channels: dict[ChannelId, Channel] = attrs.field(factory=dict)
    slugs: dict[tuple[RepositoryId, str], ChannelId] = attrs.field(factory=dict)
    histories: dict[ChannelId, History] = attrs.field(factory=dict)
    leases: dict[str, Lease] = attrs.field(factory=dict)
    sessions: dict[SessionId, WebSession] = attrs.field(factory=dict)
    agents: dict[ChannelId, Agent] = attrs.field(factory=dict)
    projects: dict[UserId, list[Project]] = attrs.field(factory=dict)
    navigations: dict[UserId, Navigation] = attrs.field(factory=dict)
    images: dict[tuple[ChannelId, str], Image] = attrs.field(factory=dict)
    machines: dict[MachineId, KeptMachine] = attrs.field(factory=dict)
    machine_choices: dict[tuple[UserId, ChannelId], MachineId] = attrs.field(factory=dict)
    machine_favourites: dict[UserId, MachineId] = attrs.field(factory=dict)
    job_revisions: dict[ChannelId, JobChannelRevision] = attrs.field(factory=dict)
    job_targets: dict[tuple[ChannelId, str], TargetGeneration] = attrs.field(factory=dict)
    jobs: dict[JobId, Job] = attrs.field(factory=dict)
    artifacts: dict[JobId, Artifact] = attrs.field(factory=dict)
    workspaces: dict[WorkspaceId, Workspace] = attrs.field(factory=dict)
    turns: dict[TurnId, Turn] = attrs.field(factory=dict)
    messages: dict[MessageId, Message] = attrs.field(factory=dict)


@attrs.define(kw_only=True)
class Connection:
    """One storage's way to the tables, and its clock."""

    tables: Tables
    clock: Callable[[], datetime]
    closed: bool = False

    async def turn(self) -> Tables:
        """
        The tables, after other tasks had their turn, as they would have while a query travels.

        Until its own next ``await`` the caller has the tables to itself: that is this adapter's transaction, so checks and
        writes stand together behind one call of this.
        """
        await asyncio.sleep(0)
        if self.closed:
            raise StorageUnavailable("closed")
        return self.tables
