"""The shape in which an agent sees a document; what is not known is left out, never null."""

from __future__ import annotations

from datetime import datetime
from typing import NotRequired, TypedDict

from chopin_core.agent_requests import Brief
from chopin_core.channel import Channel
from chopin_core.documents import Written


class ListedDocument(TypedDict):
    id: str
    title: str
    description: NotRequired[str]
    archivedAt: NotRequired[str]
    url: str


class Listing(TypedDict):
    documents: list[ListedDocument]
    next_cursor: NotRequired[str]


class BriefAnswer(TypedDict):
    goal: str
    constraints: list[str]
    settledDecisions: list[str]
    openQuestions: list[str]
    repositoryFindings: list[str]


class DocumentAnswer(TypedDict):
    id: str
    title: str
    source: str
    revision: int
    url: str
    brief: NotRequired[BriefAnswer]
    description: NotRequired[str]
    archivedAt: NotRequired[str]


def listed(channel: Channel, url: str) -> ListedDocument:
    """A row of a listing."""
    row = ListedDocument(id=channel.id, title=channel.title, url=url)
    if channel.description is not None:
        row["description"] = channel.description.value
    if channel.archived_at is not None:
        row["archivedAt"] = _instant(channel.archived_at)
    return row


def document(written: Written, url: str) -> DocumentAnswer:
    """A whole document. Neither the key it was created under nor where it came from is shown."""
    channel = written.channel
    answer = DocumentAnswer(id=channel.id, title=channel.title, source=written.source, revision=written.revision, url=url)
    if written.brief is not None:
        answer["brief"] = _brief(written.brief)
    if channel.description is not None:
        answer["description"] = channel.description.value
    if channel.archived_at is not None:
        answer["archivedAt"] = _instant(channel.archived_at)
    return answer


def _brief(brief: Brief) -> BriefAnswer:
    return BriefAnswer(
        goal=brief.goal,
        constraints=list(brief.constraints),
        settledDecisions=list(brief.settled_decisions),
        openQuestions=list(brief.open_questions),
        repositoryFindings=list(brief.repository_findings),
    )


def _instant(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
