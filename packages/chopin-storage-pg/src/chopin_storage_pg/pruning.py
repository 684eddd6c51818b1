"""Forgetting what operations left beside the document, once it is older than somebody may still ask for."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.ids import ChannelId
from chopin_core.ports.leases import Lease
from chopin_core.ports.pruning import Pruned, Pruning
from chopin_storage_pg import fences
from chopin_storage_pg.tables import channels

# A channel costs one look at its first operation, by the index that keeps sequences unique, unless that one is old. The order
# of the page and that of the index are those asked for, so nothing past the limit is read.
_OLD: Final = text("""
    SELECT page.id, run.sequence
    FROM (SELECT id FROM channels WHERE id >= :start ORDER BY id LIMIT :limit) AS page
        CROSS JOIN LATERAL (
            SELECT kept_at <= statement_timestamp() - make_interval(secs => :older_than) AS old
            FROM channel_operations WHERE channel_id = page.id ORDER BY sequence LIMIT 1
        ) AS first
        CROSS JOIN LATERAL (
            SELECT sequence,
                bool_and(kept_at <= statement_timestamp() - make_interval(secs => :older_than)) OVER (ORDER BY sequence) AS old
            FROM channel_operations WHERE channel_id = page.id ORDER BY sequence LIMIT :limit
        ) AS run
    WHERE first.old AND run.old
    ORDER BY page.id, run.sequence LIMIT :limit
""")
_NEXT: Final = text("SELECT id FROM channels WHERE id >= :start ORDER BY id OFFSET :limit LIMIT 1")
_FORGET: Final = text("""
    WITH forgotten AS (
        DELETE FROM channel_operations AS kept
            USING unnest(:channels ::text[], :throughs ::bigint[]) AS gone (channel_id, through)
            WHERE kept.channel_id = gone.channel_id AND kept.sequence <= gone.through
                AND kept.kept_at <= statement_timestamp() - make_interval(secs => :older_than)
            RETURNING kept.channel_id, kept.sequence
    ), happened AS (
        DELETE FROM channel_events AS event USING forgotten
            WHERE event.channel_id = forgotten.channel_id AND event.sequence = forgotten.sequence
    )
    SELECT count(*) FROM forgotten
""")


async def prune(connection: AsyncConnection, wanted: Pruning, lease: Lease) -> Pruned:
    """
    What ``CollaborationStore.prune`` promises.

    It looks before it locks: what is old stays old. Only a channel that was deleted and made anew meanwhile gives out its
    sequences twice, so age is asked for once more. The locks are those of a commit, in the order of ``locks.py``: the lease,
    then channels by id, and rows of a channel only under its lock. So whoever commits to, replaces or deletes one of them
    either waits for the whole step or is waited for, and nobody waits in a circle.
    """
    asked = {"start": wanted.start or "", "limit": wanted.limit, "older_than": wanted.older_than.total_seconds()}
    old = (await connection.execute(_OLD, asked)).all()
    if len(old) == wanted.limit:
        onward = old[-1].id
    else:
        onward = await connection.scalar(_NEXT, asked)
    throughs: dict[ChannelId, int] = {row.id: row.sequence for row in old}
    if throughs:
        await fences.hold(connection, lease)
        locked = select(channels.c.id).where(channels.c.id.in_(throughs)).order_by(channels.c.id)
        await connection.execute(locked.with_for_update(key_share=True))
    await fences.judge(connection, lease)
    if not throughs:
        return Pruned(operations=0, next=onward)
    gone = {"channels": list(throughs), "throughs": list(throughs.values()), "older_than": asked["older_than"]}
    return Pruned(operations=await connection.scalar(_FORGET, gone) or 0, next=onward)
