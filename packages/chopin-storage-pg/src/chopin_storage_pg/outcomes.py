"""What became of an operation: asked of the database on a fresh connection, never guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from sqlalchemy.ext.asyncio import AsyncConnection

from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.errors import CommitRejected, OperationUnknown, StorageUnavailable
from chopin_core.ids import ChannelId, OperationId
from chopin_core.ports.collaboration import CommitResult
from chopin_storage_pg.engine import Connections, DriverConnection, driver_of, session_name
from chopin_storage_pg.faults import ConnectionLost, translated
from chopin_storage_pg.sessions import LostSessions

Asked: TypeAlias = tuple[ChannelId, OperationId]

_PATIENCE: Final = 8.0
"""How long a server that restarts is waited for before nobody can say what became of a commit."""


class Outcomes:
    """Answers for operations whose own answer may have been lost."""

    def __init__(self, connections: Connections, lost: LostSessions) -> None:
        self._connections = connections
        self._lost = lost

    async def find(self, asked: Sequence[Asked]) -> list[CommitResult | None]:
        """
        Where each operation was kept. None is final: sessions that might still keep it are ended or waited for first.

        Raises:
            StorageUnavailable: it cannot be said.
        """
        with translated():
            connection = await self._connections.connect()
            try:
                await self._lost.end(connection)
                return [await _kept(connection, *one) for one in asked]
            finally:
                await connection.close()

    async def after_loss(self, asked: Sequence[Asked]) -> list[CommitResult | CommitRejected | OperationUnknown]:
        """
        What to answer for operations whose connection was lost: how each was kept, that it is not, or that nobody knows.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + _PATIENCE
        while True:
            try:
                return [result or CommitRejected() for result in await self.find(asked)]
            except StorageUnavailable as fault:
                if self._connections.closed or clock() > deadline:
                    return [OperationUnknown(fault.cause, *one) for one in asked]
            await asyncio.sleep(0.2)

    async def decide(self, asked: Asked, write: Callable[[AsyncConnection], Awaitable[CommitResult]]) -> CommitResult:
        """
        Run ``write`` in a transaction and answer what it did, also when its connection is lost.

        Raises:
            CommitRejected: storage rolled it back.
            OperationUnknown: nobody can say.
        """
        driver, session = None, ""
        try:
            with translated(committing=True):
                async with self._connections.begin() as connection:
                    driver = await driver_of(connection)
                    session = session_name(driver)
                    return await write(connection)
        except BaseException as fault:  # a cancellation too can leave the server at work
            if driver is not None and driver.closed:
                self._lost.add(session)
            if driver is None or not isinstance(fault, ConnectionLost):
                raise
        [answer] = await self.after_loss([asked])
        if isinstance(answer, CommitResult):
            return answer
        raise answer


async def _kept(connection: DriverConnection, channel_id: ChannelId, operation_id: OperationId) -> CommitResult | None:
    async with connection.transaction():
        # Any write in flight on the channel holds its row; the second statement then sees what it left.
        await connection.execute("SELECT FROM channels WHERE id = %s FOR SHARE", (channel_id,))
        cursor = await connection.execute(
            "SELECT revision, sequence FROM channel_operations WHERE channel_id = %s AND operation_id = %s",
            (channel_id, operation_id),
        )
        row = await cursor.fetchone()
    if row is None:
        return None
    return CommitResult(revision=StorageRevision(row[0]), sequence=StorageSequence(row[1]), repeated=True)
