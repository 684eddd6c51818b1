"""Lists of research requests: of a document, of a repository, and of what recovery has to look after."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, and_, case, false, func, or_, select

from chopin_core.ids import ChannelId, RepositoryId, WorkspaceId
from chopin_core.jobs.job import JobState
from chopin_core.ports.research import MOST_CHANNELS, PAGE_LIMIT
from chopin_core.research.workspace import InlineReference, Origin
from chopin_core.text import key
from chopin_storage_pg import rows
from chopin_storage_pg.tables import background_jobs, channels, research_turns, research_workspaces

_INITIAL: Final = and_(research_turns.c.workspace_id == research_workspaces.c.id, research_turns.c.ordinal == 1)


def clamped(limit: int, most: int = PAGE_LIMIT) -> int:
    return min(max(limit, 1), most)


def listed(channel_id: ChannelId, include_planner: bool) -> Select[Any]:
    query = (
        select(research_workspaces)
        .where(research_workspaces.c.channel_id == channel_id)
        .order_by(research_workspaces.c.updated_at.desc(), research_workspaces.c.id)
    )
    return query if include_planner else query.where(research_workspaces.c.origin != Origin.PLANNER.value)


def documents(repository_id: RepositoryId, include_archived: bool) -> Select[Any]:
    """The documents whose requests are shown, one more than may be."""
    query = (
        select(channels.c.id)
        .where(channels.c.repository_id == repository_id)
        .order_by(channels.c.created_at.desc(), channels.c.id)
        .limit(MOST_CHANNELS + 1)
    )
    return query if include_archived else query.where(channels.c.archived_at.is_(None))


def of_documents(channel_ids: list[str], include_planner: bool) -> Select[Any]:
    """The requests of these documents, each document's at most a page of them, in the order of :func:`listed`."""
    shown = select(
        research_workspaces,
        func.row_number()
        .over(
            partition_by=research_workspaces.c.channel_id,
            order_by=(research_workspaces.c.updated_at.desc(), research_workspaces.c.id),
        )
        .label("place"),
    ).where(research_workspaces.c.channel_id.in_(channel_ids))
    if not include_planner:
        shown = shown.where(research_workspaces.c.origin != Origin.PLANNER.value)
    numbered = shown.subquery()
    return select(numbered).where(numbered.c.place <= PAGE_LIMIT).order_by(numbered.c.channel_id, numbered.c.place)


def unplaced(limit: int, after: WorkspaceId | None, channel_id: ChannelId | None) -> Select[Any]:
    """What ``reference_recovery`` promises."""
    reference = research_workspaces.c.inline_reference
    idle = and_(
        reference == InlineReference.PLACED.value,
        research_turns.c.id.is_not(None),
        research_turns.c.evidence_job_id.is_(None),
    )
    query = (
        select(research_workspaces)
        .outerjoin(research_turns, _INITIAL)
        .where(or_(reference == InlineReference.PENDING.value, idle))
    )
    return _page(query, limit, after, channel_id)


def ended(limit: int, after: WorkspaceId | None, channel_id: ChannelId | None) -> Select[Any]:
    """What ``terminal_recovery`` promises: workspace, channel and job."""
    answer, evidence = background_jobs.alias("answer"), background_jobs.alias("evidence")
    answered = or_(
        answer.c.state == JobState.FAILED.value,
        and_(answer.c.state == JobState.COMPLETED.value, research_workspaces.c.published_channel_id.is_not(None)),
    )
    by_answer = answered.is_(True)
    query = (
        select(
            research_workspaces.c.id,
            research_workspaces.c.channel_id,
            case((by_answer, answer.c.id), else_=evidence.c.id).label("job_id"),
        )
        .join(research_turns, _INITIAL)
        .outerjoin(answer, answer.c.id == research_turns.c.answer_job_id)
        .outerjoin(evidence, evidence.c.id == research_turns.c.evidence_job_id)
        .where(
            research_workspaces.c.origin == Origin.PLANNER.value,
            research_workspaces.c.inline_reference == InlineReference.PLACED.value,
            or_(by_answer, evidence.c.state == JobState.FAILED.value),
        )
    )
    return _page(query, limit, after, channel_id)


def _page(query: Select[Any], limit: int, after: WorkspaceId | None, channel_id: ChannelId | None) -> Select[Any]:
    if after is not None:
        query = query.where(research_workspaces.c.id > key(after, "after"))
    if channel_id is not None:
        query = query.where(research_workspaces.c.channel_id == channel_id if rows.can_exist(channel_id) else false())
    return query.order_by(research_workspaces.c.id).limit(clamped(limit))
