"""What an operator can know of a database without changing it or standing in anybody's way."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, inspect, select, text

from chopin_core.errors import CorruptRecord
from chopin_core.ports.leases import WRITER, Lease
from chopin_storage_pg import ledger, orphans, rows
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.every_channel import AsTheyAreNow
from chopin_storage_pg.hazards import hazards, settings
from chopin_storage_pg.leases import lease_of
from chopin_storage_pg.tables import storage_leases

_SERVER: Final = text("SELECT current_setting('server_version'), pg_is_in_recovery()")


class Inspection:
    """
    Each question is a short transaction that may not write. Nothing here takes the lease, or a lock that a write waits for.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.channels: Final = AsTheyAreNow(connections)

    async def server(self) -> str:
        """The server's name and version, for people."""
        async with self._connections.reading() as connection:
            version, standby = (await connection.execute(_SERVER)).one()
        return f"PostgreSQL {version.partition(' ')[0]}" + (", a standby" if standby else "")

    async def hazards(self) -> tuple[str, ...]:
        """How the server is set to lose, in a crash, what it had called committed; a sentence for each, none if it keeps it."""
        return hazards(await settings(self._connections))

    async def schema(self) -> str:
        """
        The newest revision of a schema that is exactly this version's.

        Raises:
            CorruptRecord: it is not; with what an operator can do, where that is known.
        """
        async with self._connections.reading() as connection:
            return await connection.run_sync(_revision)

    async def lease(self) -> tuple[Lease | None, datetime]:
        """The writer lease as it was last taken, also one that expired since; and the server's time."""
        async with self._connections.reading() as connection:
            now = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
            row = (await connection.execute(select(storage_leases).where(storage_leases.c.name == WRITER))).one_or_none()
        return None if row is None else lease_of(*row), rows.utc(now)

    async def orphans(self) -> tuple[str, ...]:
        """A sentence for each kind of row that is out of place, with the ids of its owners."""
        async with self._connections.reading() as connection:
            return tuple(str(found) for found in await orphans.find(connection))


def _revision(connection: Connection) -> str:
    if not inspect(connection).get_table_names():
        raise CorruptRecord("schema", "the database is empty: chopin migrate makes the schema, chopin restore fills it")
    if not ledger.applied(connection):
        raise CorruptRecord("schema", "the database was not made by Chopin")
    ledger.refuse_incomplete(connection)
    return max(ledger.checksums())
