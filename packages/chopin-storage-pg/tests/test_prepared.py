"""A statement without a cursor answers, refuses and recovers as one with a cursor does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import psycopg
import pytest

from chopin_storage_pg.engine import DriverConnection
from chopin_storage_pg.prepared import Prepared, Value
from chopin_storage_pg.testing import ScratchDatabase

ECHO = Prepared("echo", "SELECT $1::text, $2::bytea, $3::boolean, $4::bigint, $5::timestamptz = $6::timestamptz, $7::json")
NOW = datetime(2026, 1, 5, 9, 30, 0, 123_456, tzinfo=UTC)


@pytest.fixture
async def session(database: ScratchDatabase) -> AsyncIterator[DriverConnection]:
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as session:
        yield session


async def test_every_kind_of_parameter_arrives_as_it_was(session: DriverConnection) -> None:
    [row] = await ECHO.rows(session, ("naïve ✓", b"\x00\xff", True, -7, NOW, NOW.astimezone(), '{"a": "\\u0000"}'))

    assert row == ("naïve ✓".encode(), b"\\x00ff", b"t", b"-7", b"t", b'{"a": "\\u0000"}')


ARRAYS: list[tuple[str, Sequence[Value]]] = [
    ("text", ['a"b\\c', "{x,y}", "", " ", "NULL", "naïve ✓", None]),
    ("bytea", [b'\x00\\"\xff', b"", None]),
    ("boolean", [True, None, False]),
    ("bigint", [-7, 0, None]),
    ("timestamptz", [NOW, None]),
    ("json", ['{"a": ["\\u0000"]}', None]),
]


@pytest.mark.parametrize(("kind", "values"), ARRAYS, ids=[kind for kind, _ in ARRAYS])
async def test_an_array_holds_what_its_values_are_by_themselves(
    session: DriverConnection, kind: str, values: Sequence[Value]
) -> None:
    listed = Prepared(
        "listed", f"SELECT element FROM unnest($1::{kind}[]) WITH ORDINALITY AS given (element, place) ORDER BY place"
    )
    single = Prepared("single", f"SELECT $1::{kind}")

    apart = [row for value in values for row in await single.rows(session, (value,))]

    assert await listed.rows(session, (values,)) == apart


async def test_a_text_with_nul_in_an_array_is_refused(session: DriverConnection) -> None:
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        await Prepared("listed", "SELECT $1::text[]").rows(session, (["a", "b\0c", "d"],))


async def test_one_that_was_prepared_without_our_hearing_of_it_serves(session: DriverConnection) -> None:
    text = "SELECT $1::bigint + 1"
    await Prepared("one", text).rows(session, (1,))

    assert await Prepared("one", text).rows(session, (2,)) == [(b"3",)]


async def test_nothing_is_null_and_not_an_empty_text(session: DriverConnection) -> None:
    [row] = await ECHO.rows(session, (None, None, False, None, NOW, NOW, None))

    assert row == (None, None, b"f", None, b"t", None)


async def test_a_text_with_nul_is_refused_and_not_cut_short(session: DriverConnection) -> None:
    with pytest.raises(psycopg.errors.CharacterNotInRepertoire):
        await ECHO.rows(session, ("a\0b", None, None, None, None, None, None))

    assert await _answers(session)


async def test_another_session_prepares_it_for_itself(session: DriverConnection, database: ScratchDatabase) -> None:
    one = Prepared("one", "SELECT $1::bigint + 1")
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as other:
        assert [await one.rows(connection, (1,)) for connection in (session, other, session)] == [[(b"2",)]] * 3


async def test_a_statement_that_cannot_be_prepared_says_so_every_time(session: DriverConnection) -> None:
    wrong = Prepared("wrong", "SELECT nothing_of_the_kind")
    for _ in range(2):
        with pytest.raises(psycopg.errors.UndefinedColumn):
            await wrong.rows(session, ())


async def test_a_cancelled_wait_leaves_the_session_at_rest(session: DriverConnection, database: ScratchDatabase) -> None:
    locked = Prepared("locked", "SELECT pg_advisory_lock($1::bigint)")
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as holder:
        await holder.execute("SELECT pg_advisory_lock(42)")
        waiting = asyncio.create_task(locked.rows(session, (42,)))
        async with asyncio.timeout(10):
            while not await _waits(holder):
                await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert session.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert await _answers(session)


async def _answers(session: DriverConnection) -> bool:
    return await ECHO.rows(session, ("a", None, None, None, None, None, None)) == [(b"a", None, None, None, None, None)]


async def _waits(holder: DriverConnection) -> bool:
    cursor = await holder.execute("SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    row = await cursor.fetchone()
    return bool(row and row[0])


async def test_a_session_that_the_server_ended_is_reported_with_its_state(
    session: DriverConnection, database: ScratchDatabase
) -> None:
    await ECHO.rows(session, ("a", None, None, None, None, None, None))
    async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as other:
        await other.execute("SELECT pg_terminate_backend(%s)", (session.info.backend_pid,))

    with pytest.raises(psycopg.OperationalError):
        await ECHO.rows(session, ("a", None, None, None, None, None, None))
