"""Moving research requests inside a transaction: what is read there, and what is written."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, Table, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.channel import Channel
from chopin_core.errors import IdempotencyConflict, TurnMissing
from chopin_core.ids import ChannelId, JobId, TurnId, WorkspaceId
from chopin_core.jobs.job import Job
from chopin_core.ports.research import Asked
from chopin_core.research import rules
from chopin_core.research.projections import working_on
from chopin_core.research.transcript import Ask, Author, Message, Turn
from chopin_core.research.workspace import Proposal, Workspace
from chopin_storage_pg import job_moves, research_rows, rows
from chopin_storage_pg.tables import background_jobs, research_messages, research_turns, research_workspaces
from chopin_storage_pg.users import refuse_unknown


async def workspaces(connection: AsyncConnection, query: Select[Any]) -> list[Workspace]:
    return [research_rows.workspace(row) for row in await connection.execute(query)]


async def turns(connection: AsyncConnection, query: Select[Any]) -> list[Turn]:
    return [research_rows.turn(row) for row in await connection.execute(query)]


async def messages(connection: AsyncConnection, query: Select[Any]) -> list[Message]:
    return [research_rows.message(row) for row in await connection.execute(query)]


async def find_workspace(connection: AsyncConnection, channel_id: ChannelId, workspace_id: WorkspaceId) -> Workspace | None:
    if not rows.can_exist(channel_id, workspace_id):
        return None
    query = select(research_workspaces).where(
        research_workspaces.c.id == workspace_id, research_workspaces.c.channel_id == channel_id
    )
    found = await workspaces(connection, query)
    return found[0] if found else None


async def known_workspace(connection: AsyncConnection, workspace_id: WorkspaceId) -> Workspace:
    [workspace] = await workspaces(connection, select(research_workspaces).where(research_workspaces.c.id == workspace_id))
    return workspace


def turns_of(workspace_id: WorkspaceId) -> Select[Any]:
    return select(research_turns).where(research_turns.c.workspace_id == workspace_id).order_by(research_turns.c.ordinal)


async def initial_turn(connection: AsyncConnection, workspace: Workspace) -> Turn | None:
    found = await turns(connection, turns_of(workspace.id).where(research_turns.c.ordinal == 1))
    return found[0] if found else None


async def bearing_on(
    connection: AsyncConnection, channel_id: ChannelId, workspace_id: WorkspaceId
) -> tuple[Workspace | None, Turn | None, Job | None]:
    """A request of the channel, its initial turn and the job that works on that, as far as there are such."""
    workspace = await find_workspace(connection, channel_id, workspace_id)
    turn = None if workspace is None else await initial_turn(connection, workspace)
    working = working_on(turn)
    linked = None if working is None else await linked_job(connection, channel_id, working[1])
    return workspace, turn, None if linked is None else linked.job


async def find_turn(connection: AsyncConnection, workspace: Workspace, turn_id: TurnId) -> Turn:
    found: list[Turn] = []
    if rows.can_exist(turn_id):
        found = await turns(connection, turns_of(workspace.id).where(research_turns.c.id == turn_id))
    if not found:
        raise TurnMissing(turn_id)
    return found[0]


async def asking_message(connection: AsyncConnection, turn: Turn) -> Message:
    """The member's message that asked for a turn."""
    asked = research_messages.c.author == Author.MEMBER.value
    [message] = await messages(connection, select(research_messages).where(research_messages.c.turn_id == turn.id, asked))
    return message


async def find_by_key(connection: AsyncConnection, proposal: Proposal) -> Workspace | None:
    found = await workspaces(
        connection,
        select(research_workspaces).where(
            research_workspaces.c.channel_id == proposal.channel_id,
            research_workspaces.c.idempotency_key == proposal.idempotency_key,
        ),
    )
    return found[0] if found else None


async def refuse_staging(connection: AsyncConnection, channel: Channel, proposal: Proposal) -> None:
    rules.refuse_archived(channel)
    await refuse_unknown(connection, proposal.created_by)
    if await connection.scalar(select(research_workspaces.c.id).where(research_workspaces.c.id == proposal.id)) is not None:
        raise IdempotencyConflict(proposal.id)


async def asked_before(connection: AsyncConnection, workspace: Workspace, ask: Ask) -> Asked | None:
    found = await turns(connection, turns_of(workspace.id).where(research_turns.c.request_id == ask.request_id))
    if not found:
        return None
    message = await asking_message(connection, found[0])
    rules.refuse_other_ask(found[0], message, ask)
    return Asked(workspace=workspace, turn=found[0], message=message, repeated=True)


async def keep_asked(connection: AsyncConnection, workspace: Workspace, turn: Turn, message: Message) -> Asked:
    await refuse_unknown(connection, turn.requested_by)
    await _refuse_taken(connection, turn, message)
    await write(connection, workspace)
    return await _told(connection, workspace, turn, message)


async def keep_begun(connection: AsyncConnection, workspace: Workspace, turn: Turn, message: Message) -> Asked:
    await _refuse_taken(connection, turn, message)
    await add(connection, workspace)
    return await _told(connection, workspace, turn, message)


async def _told(connection: AsyncConnection, workspace: Workspace, turn: Turn, message: Message) -> Asked:
    await add(connection, turn)
    await add(connection, message)
    [kept] = await turns(connection, select(research_turns).where(research_turns.c.id == turn.id))
    return Asked(
        workspace=await known_workspace(connection, workspace.id),
        turn=kept,
        message=await asking_message(connection, kept),
        repeated=False,
    )


async def _refuse_taken(connection: AsyncConnection, turn: Turn, message: Message) -> None:
    turns = select(research_turns.c.id).where(research_turns.c.id == turn.id)
    messages = select(research_messages.c.id).where(research_messages.c.id == message.id)
    if await connection.scalar(turns) is not None or await connection.scalar(messages) is not None:
        raise IdempotencyConflict(turn.id)


async def linked_job(connection: AsyncConnection, channel_id: ChannelId, job_id: JobId) -> rules.LinkedJob | None:
    if not rows.can_exist(channel_id, job_id):
        return None
    found = await job_moves.jobs(connection, job_moves.jobs_of(channel_id).where(background_jobs.c.id == job_id))
    if not found:
        return None
    detail = await job_moves.detail(connection, found[0])
    return rules.LinkedJob(job=detail.job, current=detail.current, artifact=detail.artifact is not None)


def _row(value: Workspace | Turn | Message) -> tuple[Table, dict[str, Any]]:
    match value:
        case Workspace():
            return research_workspaces, research_rows.workspace_values(value)
        case Turn():
            return research_turns, research_rows.turn_values(value)
        case Message():
            return research_messages, research_rows.message_values(value)


async def add(connection: AsyncConnection, value: Workspace | Turn | Message) -> None:
    table, values = _row(value)
    await connection.execute(insert(table).values(**values))


async def write(connection: AsyncConnection, *values: Workspace | Turn) -> None:
    for value in values:
        table, changes = _row(value)
        await connection.execute(update(table).where(table.c.id == value.id).values(**changes))
