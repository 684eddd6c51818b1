"""A session beside the storage's own, to see what theirs do."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

import attrs
import psycopg

Session: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]


@attrs.define
class Watch:
    session: Session

    async def value(self, query: str, *parameters: object) -> Any:
        """The first column of the first row, or None."""
        cursor = await self.session.execute(query.encode(), parameters or None)
        row = await cursor.fetchone()
        return None if row is None else row[0]

    async def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        cursor = await self.session.execute(query.encode(), parameters or None)
        return await cursor.fetchall()

    async def run(self, *statements: str) -> None:
        for statement in statements:
            await self.session.execute(statement.encode())

    async def until(self, query: str, *parameters: object) -> None:
        """Wait until the query answers true."""
        async with asyncio.timeout(10):
            while not await self.value(query, *parameters):
                await asyncio.sleep(0.01)

    async def until_waiting(self, sessions: int = 1) -> None:
        """Wait until so many sessions wait for a lock."""
        await self.until(
            "SELECT count(*) >= %s FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
            sessions,
        )

    async def until_none_idles_in_a_transaction(self) -> None:
        await self.until(
            "SELECT count(*) = 0 FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'"
        )

    async def end_all_sessions(self) -> None:
        """What a restart of the server does to everybody else."""
        await self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await self.until(
            "SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
