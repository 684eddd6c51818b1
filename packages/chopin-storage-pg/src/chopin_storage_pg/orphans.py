"""
Rows that no foreign key forbids and no write of ours leaves behind: each kind with a sentence, and the ids of its owners.

What a channel's own recovery finds (no state, no slug, a journal that does not fit) is not asked for again here.
"""

from __future__ import annotations

from typing import Final

import attrs
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_SHOWN: Final = 5


@attrs.frozen(kw_only=True)
class Orphans:
    """What is out of place: what it is, how many there are, and the first of their ids."""

    what: str
    count: int
    ids: tuple[str, ...]

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.ids) else ""
        return f"{self.what}: {self.count} ({', '.join(self.ids)}{more})"


QUESTIONS: Final = {
    "channels that no search finds": """
        SELECT c.id FROM channels c LEFT JOIN channel_search s ON s.channel_id = c.id AND s.repository_id = c.repository_id
        WHERE s.channel_id IS NULL""",
    "channels with an operation at a place that was never given out": """
        SELECT DISTINCT c.id FROM channels c JOIN channel_operations o ON o.channel_id = c.id
        WHERE o.sequence >= c.next_sequence OR o.revision > c.revision""",
    "channels with a journal that their checkpoint covers already": """
        SELECT DISTINCT u.channel_id FROM channel_updates u JOIN channel_snapshots s ON s.channel_id = u.channel_id
        WHERE u.sequence <= s.through_sequence""",
    "children in another repository than their parent, or below another child": """
        SELECT c.id FROM channels c JOIN channels p ON p.id = c.parent_channel_id
        WHERE p.repository_id <> c.repository_id OR p.parent_channel_id IS NOT NULL""",
    "jobs ahead of the newest of their target": """
        SELECT j.id FROM background_jobs j
            LEFT JOIN background_job_targets t ON t.channel_id = j.channel_id AND t.target_key = j.target_key
        WHERE t.generation IS NULL OR j.target_generation > t.generation""",
    "jobs ahead of the jobs of their channel": """
        SELECT j.id FROM background_jobs j LEFT JOIN background_job_channels c ON c.channel_id = j.channel_id
        WHERE c.revision IS NULL OR j.revision > c.revision""",
    "research requests published outside their channel": """
        SELECT w.id FROM research_workspaces w JOIN channels c ON c.id = w.published_channel_id
        WHERE c.parent_channel_id IS DISTINCT FROM w.channel_id""",
    "research requests that miscount their turns or messages": """
        SELECT w.id FROM research_workspaces w
        WHERE w.turns <> (SELECT count(*) FROM research_turns t WHERE t.workspace_id = w.id)
            OR w.messages <> (SELECT count(*) FROM research_messages m WHERE m.workspace_id = w.id)""",
    "research turns whose jobs belong to another channel": """
        SELECT t.id FROM research_turns t JOIN research_workspaces w ON w.id = t.workspace_id
            JOIN background_jobs j ON j.id IN (t.evidence_job_id, t.answer_job_id)
        WHERE j.channel_id <> w.channel_id""",
    "people whose chosen or favourite machine is revoked or not theirs": """
        SELECT c.user_id FROM (
            SELECT user_id, machine_id FROM machine_choices UNION ALL SELECT user_id, machine_id FROM machine_favourites
        ) c JOIN machines m ON m.id = c.machine_id
        WHERE m.owner_id <> c.user_id OR m.revoked_at IS NOT NULL""",
}


async def find(connection: AsyncConnection) -> tuple[Orphans, ...]:
    """One entry for each kind of which there are any."""
    found = []
    for what, owners in QUESTIONS.items():
        asked = text(
            f"WITH owners (id) AS MATERIALIZED ({owners}) SELECT count(*),"
            f" ARRAY(SELECT DISTINCT id FROM owners ORDER BY id LIMIT {_SHOWN}) FROM owners"
        )
        count, ids = (await connection.execute(asked)).one()
        if count:
            found.append(Orphans(what=what, count=count, ids=tuple(ids)))
    return tuple(found)
