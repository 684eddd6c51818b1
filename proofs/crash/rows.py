"""What PostgreSQL holds, read by plain statements in one transaction: nothing of the server is asked, and nothing believed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import attrs
import psycopg
from psycopg import sql

Session: TypeAlias = psycopg.AsyncConnection[Any]


@attrs.frozen(kw_only=True)
class SnapshotRow:
    generation: str
    revision: int
    through: int
    epoch: str
    source: str
    source_hash: str
    document: bytes = attrs.field(repr=False)
    head: Mapping[str, Any]
    """Of the sidecar, as it was copied."""


@attrs.frozen(kw_only=True)
class JournalRow:
    sequence: int
    revision: int
    epoch: str
    update: bytes = attrs.field(repr=False)


@attrs.frozen(kw_only=True)
class OperationRow:
    id: str
    sequence: int
    revision: int


@attrs.frozen(kw_only=True)
class Rows:
    """A channel: where it stands, and what of its history is kept."""

    channel: str
    revision: int
    latest: int
    head: Mapping[str, Any] | None
    snapshot: SnapshotRow | None
    journal: tuple[JournalRow, ...]
    operations: tuple[OperationRow, ...]


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Session]:
    """A session whose statements all see one state of the database."""
    async with await psycopg.AsyncConnection.connect(url) as session:
        await session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield session


async def read(session: Session, channel: str) -> Rows:
    """
    Raises:
        LookupError: there is no such channel.
    """
    [(revision, following, head)] = await _all(
        session,
        "SELECT c.revision, c.next_sequence, s.head::text FROM channels c LEFT JOIN channel_state s ON s.channel_id = c.id"
        " WHERE c.id = %s",
        channel,
    ) or [(None, None, None)]
    if revision is None:
        raise LookupError(f"there is no channel {channel}")
    snapshots = await _all(
        session,
        "SELECT generation, revision, through_sequence, epoch, source, source_hash, document, sidecar::text"
        " FROM channel_snapshots WHERE channel_id = %s",
        channel,
    )
    journal = await _all(
        session,
        "SELECT sequence, revision, epoch, update FROM channel_updates WHERE channel_id = %s ORDER BY sequence",
        channel,
    )
    operations = await _all(
        session,
        "SELECT operation_id, sequence, revision FROM channel_operations WHERE channel_id = %s ORDER BY sequence",
        channel,
    )
    return Rows(
        channel=channel,
        revision=revision,
        latest=following - 1,
        head=None if head is None else json.loads(head),
        snapshot=_snapshot(*snapshots[0]) if snapshots else None,
        journal=tuple(JournalRow(sequence=s, revision=r, epoch=e, update=u) for s, r, e, u in journal),
        operations=tuple(OperationRow(id=i, sequence=s, revision=r) for i, s, r in operations),
    )


def _snapshot(
    generation: str,
    revision: int,
    through: int,
    epoch: str,
    source: str,
    source_hash: str,
    document: bytes,
    sidecar: str,
) -> SnapshotRow:
    return SnapshotRow(
        generation=generation,
        revision=revision,
        through=through,
        epoch=epoch,
        source=source,
        source_hash=source_hash,
        document=document,
        head=json.loads(sidecar)["head"],
    )


async def everything(session: Session) -> dict[str, list[str]]:
    """Every row of every table as text; of a lease, whose end moves while it is held, owner and token."""
    tables = await _all(
        session, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> %s", "storage_leases"
    )
    found = {}
    for (name,) in sorted(tables):
        statement = sql.SQL("SELECT t::text FROM {} AS t ORDER BY 1").format(sql.Identifier(name))
        found[name] = [text for (text,) in await (await session.execute(statement)).fetchall()]
    leases = await (await session.execute("SELECT name, owner, fencing FROM storage_leases ORDER BY name")).fetchall()
    return found | {"storage_leases": [str(lease) for lease in leases]}


async def _all(session: Session, statement: Any, *values: object) -> list[tuple[Any, ...]]:
    return await (await session.execute(statement, values)).fetchall()
