"""
One statement, prepared once for each session and run without a cursor.

On the hot path a cursor of psycopg costs about as much as the statement itself, and several times that with arrays: it looks
anew at the query and at the type of each value every time. Here the statement says its types. How a reply is waited for, and
what a cancellation does to it, is psycopg's still.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, TypeAlias
from weakref import WeakSet

from psycopg.errors import DuplicatePreparedStatement, error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from chopin_storage_pg.engine import DriverConnection

Value: TypeAlias = str | bytes | bool | int | datetime | None
Parameter: TypeAlias = Value | Sequence[Value]
Fields: TypeAlias = tuple[bytes | None, ...]
"""A row as the server wrote it, in text."""

_TEXT: Final = 0
_BINARY: Final = 1


class Prepared:
    """``query`` marks its parameters ``$1`` and on, each with its type."""

    def __init__(self, name: str, query: str) -> None:
        self._name = name.encode()
        self._query = query.encode()
        self._known: WeakSet[DriverConnection] = WeakSet()

    async def rows(self, connection: DriverConnection, parameters: Sequence[Parameter]) -> Sequence[Fields]:
        """
        What the statement answers.

        Raises: what psycopg raises.
        """
        encoded = [_encoded(parameter) for parameter in parameters]
        values, formats = [value for value, _ in encoded], [format for _, format in encoded]
        async with connection.lock:
            if connection not in self._known:
                connection.pgconn.send_prepare(self._name, self._query)
                with suppress(DuplicatePreparedStatement):  # whoever sent it before was cancelled before the answer
                    await _result(connection)
                self._known.add(connection)
            connection.pgconn.send_query_prepared(self._name, values, formats)
            result = await _result(connection)
        columns = range(result.nfields)
        return [tuple(result.get_value(row, column) for column in columns) for row in range(result.ntuples)]


def _encoded(parameter: Parameter) -> tuple[bytes | None, int]:
    """A parameter as the server reads it. A text goes in binary, or else it would end at its first NUL without a word."""
    match parameter:
        case str():
            return parameter.encode(), _BINARY
        case bytes():
            return parameter, _BINARY
        case None | bool() | int() | datetime():
            return _plain(parameter), _TEXT
        case _:
            return b"{%s}" % b",".join(map(_element, parameter)), _TEXT


def _element(value: Value) -> bytes:
    """A value as it stands in an array. One that ends early, at a NUL, spoils the array, and the server says so."""
    match value:
        case str():
            return b'"%s"' % value.replace("\\", "\\\\").replace('"', '\\"').encode()
        case bytes():
            return b'"\\\\x%s"' % value.hex().encode()
        case _:
            return _plain(value) or b"NULL"


def _plain(value: bool | int | datetime | None) -> bytes | None:
    match value:
        case None:
            return None
        case bool():
            return b"t" if value else b"f"
        case int():
            return b"%d" % value
        case datetime():
            return value.isoformat().encode()


async def _result(connection: DriverConnection) -> PGresult:
    results: list[PGresult] = await connection.wait(execute(connection.pgconn))
    [result] = results
    if result.status not in (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK):
        raise error_from_result(result, connection.info.encoding)
    return result
