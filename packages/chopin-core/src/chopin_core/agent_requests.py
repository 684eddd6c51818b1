"""What agents ask of documents, and what a document's sidecar keeps of it so that asking again gets the same answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import attrs

from chopin_core.counters import PlanRevision
from chopin_core.errors import CorruptRecord, IdempotencyConflict, InvalidField
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import Json, encode
from chopin_core.people import Person, Repository
from chopin_core.text import storable

KEY_LENGTH: Final = 128

CREATION: Final = "creation"
"""The section that holds the request a document came from (domain spec §4)."""


@attrs.frozen(kw_only=True)
class Brief:
    """Why a document was written, as the agent that created it put it."""

    goal: str
    constraints: tuple[str, ...] = ()
    settled_decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    repository_findings: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class AgentClient:
    """The program that an agent speaks through, as it names itself."""

    name: str
    version: str


@attrs.frozen(kw_only=True)
class CreateDocument:
    """A document as an agent wants it. The same key with the same request is the same document."""

    idempotency_key: str
    repository: Repository
    base_branch: str
    base_commit: str
    title: str
    brief: Brief
    source: str
    by: Person


@attrs.frozen(kw_only=True)
class UpdateDocument:
    """A whole new source for a document read at ``revision``. The same key with the same request is kept once."""

    channel_id: ChannelId
    revision: PlanRevision
    source: str
    idempotency_key: str
    by: Person
    client: AgentClient | None = None


def checked_key(key: str) -> str:
    """
    An idempotency key as it is.

    Raises:
        InvalidField: it is blank, longer than 128 characters, or cannot be stored.
    """
    if not 1 <= len(storable(key, "idempotency key")) <= KEY_LENGTH or not key.strip():
        raise InvalidField("idempotency key", f"must have 1 to {KEY_LENGTH} characters and not be blank")
    return key


# Creation


def creation_record(request: CreateDocument) -> Json:
    """The request as the section :data:`CREATION`, with a fingerprint of everything that was asked."""
    brief = request.brief
    content: dict[str, Json] = {
        "goal": brief.goal,
        "constraints": list(brief.constraints),
        "settledDecisions": list(brief.settled_decisions),
        "openQuestions": list(brief.open_questions),
        "repositoryFindings": list(brief.repository_findings),
    }
    origin: dict[str, Json] = {
        "idempotencyKey": request.idempotency_key,
        "repository": f"{request.repository.owner}/{request.repository.name}",
        "baseBranch": request.base_branch,
        "baseCommit": request.base_commit,
        "title": request.title,
    }
    # The node id stands for the repository: its name may change between two tries.
    asked = {**origin, "repository": request.repository.id, "brief": content, "source": request.source}
    return {"brief": content, "origin": {**origin, "fingerprint": _fingerprint(asked)}}


def same_creation(one: Json, other: Json) -> bool:
    """Whether two creation records come from the same request; a document that people made came from none."""
    asked = _asked(one)
    return asked is not None and asked == _asked(other)


def brief_of(creation: Json) -> Brief | None:
    """
    The brief in a creation record; None for a document that people made.

    Raises:
        CorruptRecord: the record has another shape.
    """
    if not isinstance(creation, Mapping) or not isinstance(content := creation.get("brief"), Mapping):
        return None
    goal = content.get("goal")
    if not isinstance(goal, str):
        raise CorruptRecord("sidecar section creation", "its brief has no goal")
    return Brief(
        goal=goal,
        constraints=_lines(content, "constraints"),
        settled_decisions=_lines(content, "settledDecisions"),
        open_questions=_lines(content, "openQuestions"),
        repository_findings=_lines(content, "repositoryFindings"),
    )


def _asked(creation: Json) -> Json:
    origin = creation.get("origin") if isinstance(creation, Mapping) else None
    return origin.get("fingerprint") if isinstance(origin, Mapping) else None


def _lines(content: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = content.get(name)
    if not isinstance(value, list | tuple):
        raise CorruptRecord("sidecar section creation", f"its brief has no {name}")
    return tuple(line for line in value if isinstance(line, str))


# Updates


@attrs.frozen(kw_only=True)
class UpdateAnswer:
    """What an update was answered with: the canonical source, its revision, and how the document was called then."""

    source: str
    revision: PlanRevision
    title: str
    slug: str


def update_section(key: str) -> str:
    """The section that keeps the answer to the update with this key; one of its own, so that none rewrites the others."""
    return f"mcpUpdates.{hashlib.sha256(checked_key(key).encode()).hexdigest()}"


def update_record(request: UpdateDocument, answer: UpdateAnswer) -> Json:
    """The request's fingerprint and its answer as that section."""
    client = request.client
    return {
        "fingerprint": _update_fingerprint(request),
        "fromRevision": request.revision,
        "client": None if client is None else {"name": client.name, "version": client.version},
        "document": attrs.asdict(answer),
    }


def first_answer(record: Json, request: UpdateDocument) -> UpdateAnswer:
    """
    What the same request was answered with first, whatever became of the document since.

    Raises:
        IdempotencyConflict: its key was used with another request.
        CorruptRecord: the record has another shape.
    """
    document = record.get("document") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(document, Mapping):
        raise CorruptRecord("sidecar section mcpUpdates", "has the wrong shape")
    if record.get("fingerprint") != _update_fingerprint(request):
        raise IdempotencyConflict(request.idempotency_key)
    source, revision, title, slug = (document.get(name) for name in ("source", "revision", "title", "slug"))
    if not (isinstance(source, str) and isinstance(revision, int) and isinstance(title, str) and isinstance(slug, str)):
        raise CorruptRecord("sidecar section mcpUpdates", "has the wrong shape")
    return UpdateAnswer(source=source, revision=PlanRevision(revision), title=title, slug=slug)


def _update_fingerprint(request: UpdateDocument) -> str:
    return _fingerprint({"revision": request.revision, "source": request.source})


def _fingerprint(fields: Mapping[str, Json]) -> str:
    return hashlib.sha256(encode(fields).encode()).hexdigest()
