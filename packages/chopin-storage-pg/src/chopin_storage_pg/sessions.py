"""Server sessions that are not the pool's: one to keep for a single purpose, and those that were lost in mid-sentence."""

from __future__ import annotations

import asyncio
from typing import Final

from psycopg.pq import TransactionStatus

from chopin_core.errors import StorageUnavailable
from chopin_storage_pg.engine import Connections, DriverConnection, hung_up, session_name

_ENDED_WITHIN: Final = 5.0


class LostSessions:
    """
    Sessions whose connection went away while a statement was running.

    The server may not have noticed yet, and the statement may still be waiting there, for a lock or for its last byte. So
    before anybody says that something was *not* kept, these sessions are ended and seen to be gone.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, name: str) -> None:
        self._names.add(name)

    async def end(self, connection: DriverConnection) -> None:
        """
        End them all, over another connection, and return when none is left.

        Raises:
            StorageUnavailable: one does not end.
        """
        names = sorted(self._names)
        if not names:
            return
        deadline = asyncio.get_running_loop().time() + _ENDED_WITHIN
        while await self._signalled(connection, names):
            if asyncio.get_running_loop().time() > deadline:
                raise StorageUnavailable("LostSession")
            await asyncio.sleep(0.02)
        self._names.difference_update(names)

    @staticmethod
    async def _signalled(connection: DriverConnection, names: list[str]) -> int:
        cursor = await connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = ANY (%s)", (names,)
        )
        row = await cursor.fetchone()
        return int(row[0]) if row else 0


class OwnSession:
    """
    A session for one purpose, opened when it is first needed and again when it was lost. Its user takes turns by itself.

    It saves a busy caller the pool's bookkeeping, and an urgent one the wait for a free connection.
    """

    def __init__(self, connections: Connections, lost: LostSessions, *settings: str) -> None:
        self._connections = connections
        self._lost = lost
        self._settings = settings
        self._connection: DriverConnection | None = None
        self._name = ""

    async def connection(self) -> DriverConnection:
        """The connection, known to be alive a moment ago."""
        if self._connection is not None and hung_up(self._connection):
            await self.close()
        if self._connection is None:
            connection = await self._connections.connect()
            try:
                for setting in self._settings:
                    await connection.execute(setting.encode())
            except BaseException:
                await connection.close()
                raise
            self._connection, self._name = connection, session_name(connection)
        return self._connection

    async def settle(self, connection: DriverConnection) -> None:
        """After a statement on the connection was cut short: keep it if it came to rest, else count its session as lost."""
        if connection is self._connection:
            if not connection.closed and connection.pgconn.transaction_status == TransactionStatus.IDLE:
                return
            self.forget()
        await connection.close()

    def forget(self) -> None:
        """Let go of a connection that may be waiting for ever; its session is lost."""
        if self._connection is not None:
            self._lost.add(self._name)
            self._connection = None

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
