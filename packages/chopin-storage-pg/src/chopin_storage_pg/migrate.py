"""Bringing a database to the current schema: all of it in one transaction, and one process at a time."""

from __future__ import annotations

from typing import Final

import attrs
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, func, inspect, select, text

from chopin_core.errors import CorruptRecord, InvalidField, StorageUnavailable
from chopin_storage_pg import ledger
from chopin_storage_pg.engine import Connections
from chopin_storage_pg.locks import MIGRATION_LOCK
from chopin_storage_pg.tables import metadata

OLDEST_SERVER: Final = 150000
"""PostgreSQL 15."""


@attrs.frozen(kw_only=True)
class Upgrade:
    """From which revision to which a schema went, by which ones; ``before`` is None where there was none."""

    before: str | None
    after: str
    applied: tuple[str, ...]


class Migrations:
    """The schema of one database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def upgrade(self) -> Upgrade:
        """
        Apply what is missing, and tell what that was. Others who start at the same time wait, and then find nothing to do.

        Raises:
            CorruptRecord: the database was made by a newer version, by files that were changed, or not by Chopin.
            StorageUnavailable: it could not be done, and nothing of it was.
            OutcomeUnknown: all of it was done or nothing; the same again finds out.
        """
        async with self._connections.writing() as connection:
            return await connection.run_sync(_upgrade)

    async def refuse_incomplete(self) -> None:
        """
        Raises:
            CorruptRecord: the schema is not exactly the one of this version.
            StorageUnavailable: a transaction that could write is not to be had.
        """
        async with self._connections.writing() as connection:
            if await connection.scalar(text("SELECT current_setting('transaction_read_only')::boolean")):
                raise StorageUnavailable("ReadOnly")  # a standby answers, but keeps nothing
            await connection.run_sync(ledger.refuse_incomplete)

    async def refuse_unfit(self) -> None:
        """
        Raises:
            InvalidField: the server is too old, or the database cannot hold every text.
        """
        async with self._connections.single() as connection:
            version, encoding = (
                await connection.execute(
                    text("SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')")
                )
            ).one()
        if version < OLDEST_SERVER:
            raise InvalidField("DATABASE_URL", "names a server older than PostgreSQL 15")
        if encoding != "UTF8":
            raise InvalidField("DATABASE_URL", "names a database whose encoding is not UTF8")


def _upgrade(connection: Connection) -> Upgrade:
    connection.execute(text("SET LOCAL lock_timeout = 0"))  # however long the process before us takes
    connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    return upgrade(connection)


def upgrade(connection: Connection) -> Upgrade:
    """:meth:`Migrations.upgrade` in a transaction of the caller's, who sees to it that nobody else does the same."""
    recorded = ledger.applied(connection)
    heads = MigrationContext.configure(connection).get_current_heads()
    for head in heads:
        if head not in recorded:
            raise CorruptRecord("schema", f"revision {head} is applied but not recorded")
    if not heads:
        _refuse_foreign(connection)
    config = Config()
    config.set_main_option("script_location", str(ledger.VERSIONS.parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    ledger.refuse_incomplete(connection)
    after = ledger.checksums()
    return Upgrade(before=max(recorded, default=None), after=max(after), applied=tuple(sorted(after.keys() - recorded.keys())))


def _refuse_foreign(connection: Connection) -> None:
    """A table of one of our names that no revision made is somebody else's; the baseline must not build around it."""
    foreign = sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
    if foreign:
        raise CorruptRecord("schema", f"table {foreign[0]} was not made by Chopin")
