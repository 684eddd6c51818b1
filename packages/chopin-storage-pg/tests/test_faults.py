from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from chopin_core.channel import Channel
from chopin_core.errors import ChannelExists, ChopinError, CommitRejected, StorageUnavailable, TitleTaken
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.leases import Lease
from chopin_storage_pg.faults import ConnectionLost, translated
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchDatabase, ScratchServer

from made import commit, creation, replacement
from watch import Watch

RAISING = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a text with %', 'document prose' USING ERRCODE = '{state}', CONSTRAINT = '{constraint}'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse();
"""


@pytest.fixture
async def database(server: ScratchServer) -> AsyncIterator[ScratchDatabase]:
    """One to be spoiled."""
    async with server.copied() as database:
        yield database


async def refusing(watch: Watch, table: str, state: str, constraint: str = "") -> None:
    """From now on the server refuses rows of the table, for a reason of its own."""
    await watch.run(RAISING.format(table=table, state=state, constraint=constraint))


def ours(fault: BaseException) -> ChopinError:
    with pytest.raises(ChopinError) as caught, translated():
        raise fault
    return caught.value


@pytest.mark.parametrize("state", ["40001", "40P01"])
async def test_what_the_server_rolled_back_may_be_tried_again(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch, state: str
) -> None:
    await refusing(watch, "channel_operations", state)
    plain = commit(channel)

    for write in (
        storage.collaboration.commit(plain, lease=lease),
        storage.collaboration.commit(commit(channel, title=TitleChange(title="New")), lease=lease),
        storage.collaboration.replace(replacement(channel), lease=lease),
    ):
        with pytest.raises(CommitRejected):
            await write

    await watch.run("DROP TRIGGER refuse ON channel_operations")
    assert (await storage.collaboration.commit(plain, lease=lease)).repeated is False


async def test_the_same_states_are_plain_unavailability_elsewhere(storage: PgStorage, watch: Watch) -> None:
    await refusing(watch, "channels", "40001")

    with pytest.raises(StorageUnavailable) as caught:
        await storage.channels.create(creation("one"))
    assert caught.value.cause == "40001"


@pytest.mark.parametrize("state", ["23514", "22001", "53100", "P0001", "42501", "57014"])
async def test_any_other_state_is_unavailability_and_carries_no_text(
    storage: PgStorage, channel: Channel, lease: Lease, watch: Watch, state: str
) -> None:
    await refusing(watch, "channel_operations", state)

    with pytest.raises(StorageUnavailable) as caught:
        await storage.collaboration.commit(commit(channel), lease=lease)

    assert (type(caught.value), caught.value.cause) == (StorageUnavailable, state)
    assert "prose" not in str(caught.value) + repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


async def test_a_constraint_that_the_caller_named_means_what_it_said(storage: PgStorage, watch: Watch) -> None:
    await refusing(watch, "channels", "23505", "channels_pkey")
    with pytest.raises(ChannelExists) as caught:
        await storage.channels.create(creation("one"))
    assert caught.value.channel_id == "one"


async def test_a_constraint_that_nobody_named_is_unavailability(storage: PgStorage, watch: Watch) -> None:
    await refusing(watch, "channels", "23505", "somebody_elses_key")
    with pytest.raises(StorageUnavailable):
        await storage.channels.create(creation("one"))


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (psycopg.OperationalError("at 10.0.0.1"), ConnectionLost("OperationalError")),
        (psycopg.InterfaceError("closed"), ConnectionLost("InterfaceError")),
        (psycopg.errors.AdminShutdown("bye"), ConnectionLost("57P01")),
        (psycopg.errors.ConnectionFailure("bye"), ConnectionLost("08006")),
        (psycopg.errors.IdleInTransactionSessionTimeout("bye"), ConnectionLost("25P03")),
        (psycopg.errors.LockNotAvailable("no"), StorageUnavailable("55P03")),
        (psycopg.DataError("NUL"), StorageUnavailable("DataError")),
        (PoolTimeout(), StorageUnavailable("TimeoutError")),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"), StorageUnavailable("UnicodeEncodeError")),
        (OperationalError("SELECT 1", {}, psycopg.errors.AdminShutdown("bye")), ConnectionLost("57P01")),
        (OperationalError("SELECT 1", {}, psycopg.OperationalError("bye")), ConnectionLost("OperationalError")),
    ],
)
def test_each_fault_is_reduced_to_its_kind(fault: BaseException, error: StorageUnavailable) -> None:
    found = ours(fault)
    assert isinstance(found, StorageUnavailable)
    assert (type(found), found.cause) == (type(error), error.cause)


@pytest.mark.parametrize("error", [TitleTaken("t"), ValueError("a bug"), KeyError("a bug"), KeyboardInterrupt()])
def test_what_is_not_the_drivers_passes_unchanged(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, translated():
        raise error
    assert caught.value is error
