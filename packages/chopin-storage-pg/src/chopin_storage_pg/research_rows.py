"""Research requests as rows, and back."""

from __future__ import annotations

import enum
from typing import Any, TypeVar

from sqlalchemy import Row

from chopin_core.counters import ResearchRevision
from chopin_core.errors import CorruptRecord
from chopin_core.ids import ChannelId, JobId, MessageId, TurnId, UserId, WorkspaceId
from chopin_core.research.transcript import Author, Message, Turn, TurnKind
from chopin_core.research.workspace import InlineReference, Origin, Workspace
from chopin_storage_pg import rows

E = TypeVar("E", bound=enum.Enum)


def workspace_values(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": workspace.id,
        "channel_id": workspace.channel_id,
        "published_channel_id": workspace.published_channel,
        "title": workspace.title,
        "proposed_question": workspace.proposed_question,
        "query": workspace.query,
        "confirmed_by": workspace.confirmed_by,
        "origin": workspace.origin.value,
        "origin_message": workspace.origin_message,
        "inline_reference": None if workspace.inline_reference is None else workspace.inline_reference.value,
        "created_by": workspace.created_by,
        "revision": workspace.revision,
        "turns": workspace.turns,
        "messages": workspace.messages,
        "idempotency_key": workspace.idempotency_key,
        "fingerprint": workspace.fingerprint,
        "created_at": workspace.created_at,
        "updated_at": workspace.updated_at,
    }


def workspace(row: Row[Any]) -> Workspace:
    where = f"research workspace {row.id}"
    return Workspace(
        id=WorkspaceId(row.id),
        channel_id=ChannelId(row.channel_id),
        published_channel=None if row.published_channel_id is None else ChannelId(row.published_channel_id),
        title=row.title,
        proposed_question=row.proposed_question,
        query=row.query,
        confirmed_by=None if row.confirmed_by is None else UserId(row.confirmed_by),
        origin=_one_of(Origin, row.origin, where),
        origin_message=None if row.origin_message is None else MessageId(row.origin_message),
        inline_reference=None if row.inline_reference is None else _one_of(InlineReference, row.inline_reference, where),
        created_by=UserId(row.created_by),
        revision=ResearchRevision(rows.count(row.revision, where, "revision")),
        turns=rows.count(row.turns, where, "turns"),
        messages=rows.count(row.messages, where, "messages"),
        idempotency_key=row.idempotency_key,
        fingerprint=row.fingerprint,
        created_at=rows.utc(row.created_at),
        updated_at=rows.utc(row.updated_at),
    )


def turn_values(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "workspace_id": turn.workspace_id,
        "ordinal": turn.ordinal,
        "kind": turn.kind.value,
        "request_id": turn.request_id,
        "fingerprint": turn.fingerprint,
        "question": turn.question,
        "requested_by": turn.requested_by,
        "evidence_job_id": turn.evidence_job,
        "answer_job_id": turn.answer_job,
        "created_at": turn.created_at,
        "updated_at": turn.updated_at,
    }


def turn(row: Row[Any]) -> Turn:
    where = f"turn {row.id} of research workspace {row.workspace_id}"
    return Turn(
        id=TurnId(row.id),
        workspace_id=WorkspaceId(row.workspace_id),
        ordinal=rows.count(row.ordinal, where, "ordinal", least=1),
        kind=_one_of(TurnKind, row.kind, where),
        request_id=row.request_id,
        fingerprint=row.fingerprint,
        question=row.question,
        requested_by=UserId(row.requested_by),
        evidence_job=None if row.evidence_job_id is None else JobId(row.evidence_job_id),
        answer_job=None if row.answer_job_id is None else JobId(row.answer_job_id),
        created_at=rows.utc(row.created_at),
        updated_at=rows.utc(row.updated_at),
    )


def message_values(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "workspace_id": message.workspace_id,
        "sequence": message.sequence,
        "turn_id": message.turn_id,
        "author": message.author.value,
        "user_id": message.user_id,
        "handle": message.handle,
        "text": message.text,
        "source_job_id": message.source_job,
        "created_at": message.created_at,
    }


def message(row: Row[Any]) -> Message:
    where = f"message {row.id} of research workspace {row.workspace_id}"
    return Message(
        id=MessageId(row.id),
        workspace_id=WorkspaceId(row.workspace_id),
        sequence=rows.count(row.sequence, where, "sequence", least=1),
        turn_id=None if row.turn_id is None else TurnId(row.turn_id),
        author=_one_of(Author, row.author, where),
        user_id=None if row.user_id is None else UserId(row.user_id),
        handle=row.handle,
        text=row.text,
        source_job=None if row.source_job_id is None else JobId(row.source_job_id),
        created_at=rows.utc(row.created_at),
    )


def _one_of(kind: type[E], value: str, where: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise CorruptRecord(where, f"has an unknown {kind.__name__}") from None
