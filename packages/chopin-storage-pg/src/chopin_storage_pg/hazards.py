"""What a server is set to that lets it lose, in a crash, what it had called committed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import text

from chopin_storage_pg.engine import Connections

_WHEN_OFF: Final = {
    "fsync": "commits are not forced to disk",
    "full_page_writes": "a page torn by a power cut is not repaired, unless the file system never tears one",
}
"""What no session can set for itself, unlike ``synchronous_commit`` (see ``engine.py``)."""


async def settings(connections: Connections) -> Mapping[str, str]:
    async with connections.single() as connection:
        rows = await connection.execute(
            text("SELECT name, setting FROM pg_settings WHERE name = ANY (:names)"), {"names": list(_WHEN_OFF)}
        )
        return {row.name: row.setting for row in rows}


def hazards(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name} is off: {lost}" for name, lost in _WHEN_OFF.items() if settings[name] == "off")
