"""Clearing children of their conversations: found by what they hold, then one transaction for each."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.conversations import OF_CONVERSATION, TRANSCRIPT, Verdict, judge, without_conversation
from chopin_core.errors import CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.jsonvalue import encode
from chopin_core.ports.collaboration import DroppedConversations
from chopin_core.ports.leases import Lease
from chopin_storage_pg import fences, loading
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.snapshots import write_sidecar
from chopin_storage_pg.tables import agent_state, channel_snapshots, channels

_CANDIDATES: Final = text(
    """
    SELECT c.id FROM channels c WHERE c.parent_channel_id IS NOT NULL AND (
        EXISTS (
            SELECT FROM channel_sections s WHERE s.channel_id = c.id AND split_part(s.name, '.', 1) = ANY (:families)
                AND (s.name <> :transcript OR s.value::text <> '[]')
        )
        OR EXISTS (SELECT FROM channel_snapshots p WHERE p.channel_id = c.id AND p.sidecar::text ~ :mentioned)
        OR EXISTS (SELECT FROM agent_state a WHERE a.channel_id = c.id AND (a.summary <> '' OR a.transcript_cursor <> 0))
    ) ORDER BY c.id
    """
)
"""Children worth a look. A snapshot is only searched as a text: to take it apart here would read what it escapes."""

_GIVEN: Final = {
    "families": sorted(OF_CONVERSATION),
    "transcript": TRANSCRIPT,
    "mentioned": rf'"(?:{"|".join(sorted(OF_CONVERSATION - {TRANSCRIPT}))})|"{TRANSCRIPT}(?!"\s*:\s*\[\])',
}
"""An empty transcript is what a clearing leaves, and not worth one."""


async def drop(connections: Connections, lease: Lease) -> DroppedConversations:
    """What ``CollaborationStore.drop_child_conversations`` promises."""
    async with connections.writing() as connection:
        await fences.hold(connection, lease)
        await fences.judge(connection, lease)
        candidates = (await connection.execute(_CANDIDATES, _GIVEN)).scalars().all()
    verdicts: dict[ChannelId, Verdict] = {}
    for child in map(ChannelId, candidates):
        async with connections.writing() as connection:
            verdicts[child] = await _clear(connection, child, lease)
    return DroppedConversations.of(verdicts)


async def _clear(connection: AsyncConnection, child: ChannelId, lease: Lease) -> Verdict:
    """Do what is to be done about a child, and say what that was. One that cannot be read is left as a cited one is."""
    await fences.hold(connection, lease)
    await connection.execute(select(channels.c.id).where(channels.c.id == child).with_for_update(key_share=True))
    await fences.judge(connection, lease)
    try:
        stored = await loading.load(connection, child)
    except CorruptRecord:
        return Verdict.CITED
    if stored is None:  # deleted since it was found
        return Verdict.SILENT
    live, copied = stored.sidecar, None if stored.snapshot is None else stored.snapshot.sidecar
    agent = (await connection.execute(select(agent_state).where(agent_state.c.channel_id == child))).one_or_none()
    remembered = agent is not None and (agent.summary, agent.transcript_cursor) != ("", 0)
    verdict = judge([record for record in (live, copied) if record is not None], remembered=remembered)
    if verdict is Verdict.CLEAR:
        if live is not None:
            await write_sidecar(connection, child, without_conversation(live))
        if copied is not None:
            record = without_conversation(copied)
            sidecar = encode({"head": record.head, "sections": dict(record.sections)})
            await connection.execute(
                update(channel_snapshots).where(channel_snapshots.c.channel_id == child).values(sidecar=sidecar)
            )
        await connection.execute(
            update(agent_state).where(agent_state.c.channel_id == child).values(summary="", transcript_cursor=0)
        )
    return verdict
