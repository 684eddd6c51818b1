"""How the adapter reaches its database: a pool for most work, and sessions of their own for what must not wait for it."""

from __future__ import annotations

import secrets
import select
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import event
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from chopin_core.errors import ChopinError, InvalidField, StorageUnavailable
from chopin_storage_pg.faults import keeping, translated

DriverConnection: TypeAlias = psycopg.AsyncConnection[tuple[Any, ...]]

POOL_SIZE: Final = 10
CONNECT_SECONDS: Final = 10

_PARAMETERS: Final[dict[str, Any]] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
"""A server whose host or network vanished is noticed in half a minute; the system's defaults take hours."""

_SETTINGS: Final = """
SELECT
    set_config('idle_in_transaction_session_timeout', '10s', false),
    set_config('lock_timeout', '20s', false),
    set_config('synchronous_commit', CASE synchronous_commit WHEN 'off' THEN 'on' ELSE synchronous_commit END, false)
FROM current_setting('synchronous_commit') AS synchronous_commit
"""
"""
The limits are the mirror image: when *our* host vanishes in the middle of a transaction, PostgreSQL ends it soon. It may hold
the lease's row, and a successor's takeover waits for that. A commit is answered when it is on disk, whatever the database's
default; an operator's stricter choice (a standby that must have it too) stands.
"""


def connection_parameters(url: str) -> str:
    """
    A ``postgres://`` or ``postgresql://`` URL as the driver takes it.

    Raises:
        InvalidField: it is anything else. The URL is not repeated: it holds a password.
    """
    if not url.startswith(("postgres://", "postgresql://")):
        raise InvalidField("DATABASE_URL", "is not a postgres:// or postgresql:// URL")
    try:
        given = conninfo_to_dict(url)
        return make_conninfo(**{**_PARAMETERS, **given})
    except (psycopg.ProgrammingError, UnicodeEncodeError):
        raise InvalidField("DATABASE_URL", "cannot be read as a URL") from None


class Connections:
    """All connections to one database. No representation of it, or of what it holds, knows an address or a password."""

    def __init__(self, url: str) -> None:
        self._parameters = connection_parameters(url)
        self._engine = create_async_engine(
            "postgresql+psycopg://",
            async_creator=self.connect,
            pool_size=POOL_SIZE,
            max_overflow=0,
            pool_timeout=CONNECT_SECONDS,
            use_native_hstore=False,
            hide_parameters=True,
        )
        event.listen(self._engine.sync_engine, "checkout", _refuse_dead)
        self.closed = False

    @asynccontextmanager
    async def begin(self, statement: str = "BEGIN ISOLATION LEVEL READ COMMITTED") -> AsyncIterator[AsyncConnection]:
        """A transaction, by default READ COMMITTED: kept if the block ends well, else as if it had never been."""
        self._refuse_closed()
        async with self._engine.begin() as connection:
            await connection.exec_driver_sql(statement)
            yield connection

    @asynccontextmanager
    async def writing(self, constraints: Mapping[str, ChopinError] | None = None) -> AsyncIterator[AsyncConnection]:
        """
        :meth:`begin`, and the driver's errors become ours.

        Raises:
            OutcomeUnknown: the connection was lost after the block had ended well. Before that nothing can have been kept, and
                afterwards the transaction holds its locks until it is: whoever does the same again waits for it.
        """
        with keeping(constraints) as write:
            async with self.begin() as connection:
                yield connection
                write.asked = True

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction in which every statement sees the database as it was at the first, and none may write."""
        with translated():
            async with self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY") as connection:
                yield connection

    @asynccontextmanager
    async def single(self) -> AsyncIterator[AsyncConnection]:
        """For reading: each statement is a transaction of its own, without round trips to begin and end one."""
        self._refuse_closed()
        with translated():
            async with self._engine.connect() as connection:
                yield connection

    async def connect(self) -> DriverConnection:
        """
        A new session, known to the server by a name of its own (:func:`session_name`).

        In autocommit mode, and it stays so: transactions are begun by a statement of ours. SQLAlchemy would switch modes
        after it took a connection from the pool and before it answers for it, and a cancellation then loses the connection.
        """
        self._refuse_closed()
        name = f"chopin {secrets.token_hex(8)}"
        try:
            connection = await psycopg.AsyncConnection.connect(self._parameters, application_name=name, autocommit=True)
        except BaseException as fault:
            _let_go_of_sockets(fault)
            raise
        try:
            await connection.execute(_SETTINGS)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def close(self) -> None:
        self.closed = True
        await self._engine.dispose()

    def _refuse_closed(self) -> None:
        if self.closed:
            raise StorageUnavailable("Closed")


def session_name(connection: DriverConnection) -> str:
    """The name by which the server knows a session, to find it again when the connection is lost."""
    return connection.info.parameter_status("application_name") or ""


async def driver_of(connection: AsyncConnection) -> DriverConnection:
    """The driver's own connection beneath SQLAlchemy's."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)
    return driver


def hung_up(connection: DriverConnection) -> bool:
    """
    Whether the server ended an idle session, without asking it.

    An idle session has nothing to say, so anything to read is its farewell (or a notice, and then a new one does no harm).
    """
    if connection.closed:
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _let_go_of_sockets(fault: BaseException | None) -> None:
    """
    Empty the frames in which an attempt to connect failed: they own its socket, for as long as anybody keeps the error.

    The server waits for the rest of the sign-in for a minute, and whoever drops a database waits for it.
    """
    while fault is not None:
        traceback.clear_frames(fault.__traceback__)
        fault = fault.__context__


def _refuse_dead(connection: Any, record: object, proxy: object) -> None:
    if hung_up(connection.driver_connection):
        raise DisconnectionError
