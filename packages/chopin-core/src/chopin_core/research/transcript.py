"""The turns of a research workspace, and the messages in which they are told."""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Final

import attrs

from chopin_core.errors import CorruptRecord, InvalidField
from chopin_core.ids import ChannelId, JobId, MessageId, TurnId, UserId, WorkspaceId
from chopin_core.instants import aware_field
from chopin_core.research.workspace import InlineReference, Origin, Proposal, Workspace
from chopin_core.text import key_field, named_field

MOST_TURNS: Final = 102
MOST_MESSAGES: Final = 202
"""What is read of one workspace; more cannot be (storage spec §2.8)."""


class TurnKind(enum.Enum):
    INITIAL = "initial"
    FOLLOW_UP = "follow-up"
    SEARCH_MORE = "search-more"


class JobRole(enum.Enum):
    """What a linked job is for."""

    EVIDENCE = "evidence"
    ANSWER = "answer"

    @property
    def type(self) -> str:
        return f"research-{self.value}"

    def target(self, workspace: WorkspaceId, turn: TurnId) -> str:
        """The target key that the job of a turn must have."""
        return f"{self.type}:workspace:{workspace}:turn:{turn}:{self.value}"


@attrs.frozen(kw_only=True)
class Turn:
    """One question within a workspace, and the jobs that work on it. Ordinals count from 1; only the first is initial."""

    id: TurnId
    workspace_id: WorkspaceId
    ordinal: int
    kind: TurnKind
    request_id: str
    fingerprint: str
    question: str
    requested_by: UserId
    created_at: datetime
    updated_at: datetime
    evidence_job: JobId | None = None
    answer_job: JobId | None = None

    def job(self, role: JobRole) -> JobId | None:
        return self.evidence_job if role is JobRole.EVIDENCE else self.answer_job

    def linked(self, role: JobRole, job: JobId, now: datetime) -> Turn:
        at = max(self.updated_at, now)
        if role is JobRole.EVIDENCE:
            return attrs.evolve(self, evidence_job=job, updated_at=at)
        return attrs.evolve(self, answer_job=job, updated_at=at)


class Author(enum.Enum):
    MEMBER = "member"
    AGENT = "agent"
    SYSTEM = "system"


@attrs.frozen(kw_only=True)
class Message:
    """One message. A member's belongs to a turn; an agent's to a turn and to the job that wrote it."""

    id: MessageId
    workspace_id: WorkspaceId
    sequence: int
    author: Author
    text: str
    created_at: datetime
    turn_id: TurnId | None = None
    user_id: UserId | None = None
    handle: str | None = None
    source_job: JobId | None = None


@attrs.frozen(kw_only=True)
class Transcript:
    """A workspace with all its turns by ordinal and all its messages by sequence."""

    workspace: Workspace
    turns: tuple[Turn, ...]
    messages: tuple[Message, ...]

    def refuse_inconsistent(self) -> None:
        """
        Raises:
            CorruptRecord: turns or messages have gaps, do not agree with the counts, or break what is said of them above.
        """
        where = f"research workspace {self.workspace.id}"
        if [turn.ordinal for turn in self.turns] != list(range(1, self.workspace.turns + 1)):
            raise CorruptRecord(where, "its turns have gaps")
        if [message.sequence for message in self.messages] != list(range(1, self.workspace.messages + 1)):
            raise CorruptRecord(where, "its messages have gaps")
        if any((turn.kind is TurnKind.INITIAL) is not (turn.ordinal == 1) for turn in self.turns):
            raise CorruptRecord(where, "another turn than the first is the initial one")
        turns = {turn.id for turn in self.turns}
        for message in self.messages:
            placed = message.turn_id in turns if message.author is not Author.SYSTEM else message.turn_id in {None, *turns}
            if not placed or (message.source_job is not None) is not (message.author is Author.AGENT):
                raise CorruptRecord(where, f"message {message.sequence} has no place in it")


@attrs.frozen(kw_only=True)
class Ask:
    """
    A question for a workspace: the confirmation of the proposed one (``INITIAL``), or one more.

    Raises:
        InvalidField: a text is empty or cannot be stored.
    """

    channel_id: ChannelId
    workspace_id: WorkspaceId
    kind: TurnKind
    turn_id: TurnId = attrs.field(validator=[named_field, key_field])
    message_id: MessageId = attrs.field(validator=[named_field, key_field])
    request_id: str = attrs.field(validator=[named_field, key_field])
    fingerprint: str = attrs.field(validator=named_field)
    question: str = attrs.field(validator=named_field)
    requested_by: UserId = attrs.field(validator=key_field)
    handle: str = attrs.field(validator=named_field)
    now: datetime = attrs.field(validator=aware_field)

    def turn(self, ordinal: int) -> Turn:
        return Turn(
            id=self.turn_id,
            workspace_id=self.workspace_id,
            ordinal=ordinal,
            kind=self.kind,
            request_id=self.request_id,
            fingerprint=self.fingerprint,
            question=self.question,
            requested_by=self.requested_by,
            created_at=self.now,
            updated_at=self.now,
        )

    def message(self, sequence: int) -> Message:
        return Message(
            id=self.message_id,
            workspace_id=self.workspace_id,
            sequence=sequence,
            author=Author.MEMBER,
            text=self.question,
            created_at=self.now,
            turn_id=self.turn_id,
            user_id=self.requested_by,
            handle=self.handle,
        )

    def repeats(self, turn: Turn, message: Message) -> bool:
        """Whether the turn that was kept under this request id is what this asks for."""
        asked = (self.kind, self.fingerprint, self.question, self.requested_by, self.handle)
        return asked == (turn.kind, turn.fingerprint, turn.question, turn.requested_by, message.handle)


@attrs.frozen(kw_only=True)
class Start:
    """
    A request that is confirmed by being made: inline in the document, or by the Planner from a Chat message.

    Raises:
        InvalidField: the origin is neither; a Planner's names no message, or an inline one does; only a Planner's may ask for
            a reference in the document.
    """

    proposal: Proposal = attrs.field()
    turn_id: TurnId = attrs.field(validator=[named_field, key_field])
    message_id: MessageId = attrs.field(validator=[named_field, key_field])
    request_id: str = attrs.field(validator=[named_field, key_field])
    handle: str = attrs.field(validator=named_field)
    inline_reference: bool = attrs.field(default=False)

    @proposal.validator
    def _begun_in_the_document(self, attribute: attrs.Attribute[Proposal], value: Proposal) -> None:
        if value.origin is Origin.SIDEBAR:
            raise InvalidField("origin", "must be inline or planner")
        if (value.origin is Origin.PLANNER) is not (value.origin_message is not None):
            raise InvalidField("origin_message", "goes with a request of the Planner, and with no other")

    @inline_reference.validator
    def _of_the_planner(self, attribute: attrs.Attribute[bool], value: bool) -> None:
        if value and self.proposal.origin is not Origin.PLANNER:
            raise InvalidField("inline_reference", "goes with a request of the Planner")

    def staged(self) -> Workspace:
        proposal = self.proposal
        return attrs.evolve(
            proposal.staged(),
            query=proposal.question,
            confirmed_by=proposal.created_by,
            turns=1,
            messages=1,
            inline_reference=InlineReference.PENDING if self.inline_reference else None,
        )

    def ask(self) -> Ask:
        """The confirmation that it is at the same time."""
        proposal = self.proposal
        return Ask(
            channel_id=proposal.channel_id,
            workspace_id=proposal.id,
            kind=TurnKind.INITIAL,
            turn_id=self.turn_id,
            message_id=self.message_id,
            request_id=self.request_id,
            fingerprint=proposal.fingerprint,
            question=proposal.question,
            requested_by=proposal.created_by,
            handle=self.handle,
            now=proposal.now,
        )


@attrs.frozen(kw_only=True)
class AgentMessage:
    """
    What a job has to say in a turn.

    Raises:
        InvalidField: a text is empty or cannot be stored.
    """

    channel_id: ChannelId
    workspace_id: WorkspaceId
    turn_id: TurnId
    message_id: MessageId = attrs.field(validator=[named_field, key_field])
    source_job: JobId = attrs.field(validator=[named_field, key_field])
    text: str = attrs.field(validator=named_field)
    user_id: UserId | None = attrs.field(default=None, validator=key_field)
    handle: str | None = attrs.field(default=None, validator=named_field)
    now: datetime = attrs.field(validator=aware_field)

    def message(self, sequence: int) -> Message:
        return Message(
            id=self.message_id,
            workspace_id=self.workspace_id,
            sequence=sequence,
            author=Author.AGENT,
            text=self.text,
            created_at=self.now,
            turn_id=self.turn_id,
            user_id=self.user_id,
            handle=self.handle,
            source_job=self.source_job,
        )

    def repeats(self, message: Message) -> bool:
        return message == attrs.evolve(
            self.message(message.sequence), id=message.id, created_at=message.created_at, workspace_id=self.workspace_id
        )


def refuse_initial(ask: Ask) -> None:
    """
    Raises:
        InvalidField: the question is the confirmation, which has a method of its own.
    """
    if ask.kind is TurnKind.INITIAL:
        raise InvalidField("kind", "must be follow-up or search-more")
