"""The audit of ``make crash`` is itself put to the test: each kind of damage, done to good rows, is found and named."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta

import attrs
import psycopg
import pytest

from chopin_core.counters import DocumentCounters, Epoch, StorageRevision, StorageSequence
from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId, OperationId, RepositoryId, UserId
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate
from chopin_core.ports.documents import SharedText
from chopin_core.room.history import Clerk
from chopin_core.room.history import History as Position
from chopin_core.sidecar import Sidecar
from chopin_storage_pg.storage import open_storage
from chopin_storage_pg.testing import ScratchServer, open_server

from .crash.audit import audited
from .crash.history import History
from .crash.readers import opened_by_core, opened_by_yjs
from .crash.rows import Rows, read, reading

CHANNEL = ChannelId("one")
EPOCH = Epoch("e1")
ADA = Person(id=UserId("ada"), login="ada")
HASH_OF_NOTHING = "sha256:" + hashlib.sha256(b"").hexdigest()


@pytest.fixture(scope="module")
def postgres() -> Iterator[ScratchServer]:
    with open_server() as server:
        yield server


@attrs.frozen
class Kept:
    """Six updates of two writers, as a room would have kept them: three in the snapshot, three in the journal."""

    url: str
    history: History
    before_last: SharedText
    """The replica that the last update was made on."""

    async def rows(self) -> Rows:
        async with reading(self.url) as session:
            return await read(session, CHANNEL)

    async def found(self, *, settled: bool = False) -> set[str]:
        """The kinds of violation that the audit finds now."""
        return {violation.kind for violation in audited(await self.rows(), self.history.of(CHANNEL), settled=settled)}

    async def damage(self, statement: str, **values: object) -> None:
        async with await psycopg.AsyncConnection.connect(self.url) as session:
            done = await session.execute(statement.encode(), {"channel": CHANNEL, **values})
            assert done.rowcount

    async def last_becomes(self, update: bytes) -> None:
        """Other bytes in the last row of the journal, under the id that fits them."""
        await self.damage("UPDATE channel_updates SET update = %(update)s WHERE sequence = 7", update=update)
        await self.damage("UPDATE channel_operations SET operation_id = %(id)s WHERE sequence = 7", id=operation(update))


def operation(update: bytes) -> OperationId:
    return OperationId(f"{EPOCH}:{hashlib.sha256(update).hexdigest()}")


@pytest.fixture
async def kept(postgres: ScratchServer) -> AsyncIterator[Kept]:
    history, replica, counters = History(), PycrdtEngine().new(), DocumentCounters()
    now = datetime.now(UTC)
    async with postgres.fresh() as database, await open_storage(database.url) as storage:
        await storage.users.put(ADA, now=now)
        repository = Repository(id=RepositoryId("R"), owner="octo", name="notes")
        await storage.channels.create(
            ChannelCreate(id=CHANNEL, repository=repository, title="Notes", created_by=ADA.id, now=now)
        )
        lease = await storage.leases.acquire("writer", "test", timedelta(minutes=5))
        assert lease is not None
        clerk = Clerk(store=storage.collaboration, lease=lambda: lease, now=lambda: now, new_id=lambda: "g")
        position = Position(clerk, CHANNEL, StorageRevision(0), StorageSequence(0))
        await position.replace(epoch=EPOCH, source="", document=replica.update(), sidecar=Sidecar().record())
        for number in range(1, 7):
            before_last = PycrdtEngine().load([replica.update()])
            writer = "ab"[number % 2]
            markers = [f"⟦{writer}-{number}.{part}🦜⟧" for part in range(2)]
            removed = ["⟦b-1.0🦜⟧"] if number == 5 else []
            splices = [Splice(0, 0, marker) for marker in markers]
            if removed:
                at = replica.text.index(removed[0])
                splices.insert(0, Splice(at, at + len(removed[0]), ""))
            history.sending(f"{writer}-{number}", writer=writer, document=CHANNEL, markers=markers, removed=removed)
            update = replica.splice(splices)
            counters = counters.accepted(1, text_changed=True)
            _, patch = Sidecar().patched(counters)
            await position.commit(operation_id=operation(update), epoch=EPOCH, update=update, sidecar=patch)
            history.told(f"{writer}-{number}", counters.sequence)
            if number == 3:
                await position.checkpoint(epoch=EPOCH, source=replica.text + "\n", document=replica.update())
        yield Kept(database.url, history, before_last)


async def test_what_was_kept_as_promised_is_not_complained_of(kept: Kept) -> None:
    rows = await kept.rows()
    assert await kept.found() == await kept.found(settled=True) == set()
    assert await opened_by_core(kept.url, [rows]) == await opened_by_yjs([rows]) == []


async def test_an_acknowledged_update_that_is_nowhere_is_lost(kept: Kept) -> None:
    # All of it is gone, so the rows agree among each other.
    await kept.damage("DELETE FROM channel_updates WHERE sequence = 7")
    await kept.damage("DELETE FROM channel_operations WHERE sequence = 7")
    await kept.damage("UPDATE channels SET revision = 6, next_sequence = 7")
    await kept.damage("""UPDATE channel_state SET head = '{"version": 1, "documentSeq": 5, "revision": 5}'""")
    assert await kept.found() == {"lost", "sequence"}
    last = kept.history.updates["a-6"]
    last.acknowledged = last.sequence = None
    assert await kept.found() == set()
    assert await kept.found(settled=True) == {"lost"}


async def test_a_text_that_was_put_in_anew_is_duplicated(kept: Kept) -> None:
    seed = PycrdtEngine().new()
    again = seed.splice([Splice(0, 0, "⟦a-2.1🦜⟧")])
    await kept.damage(
        "INSERT INTO channel_updates VALUES (%(channel)s, 8, 8, 'e1', %(update)s)",
        update=again,
    )
    assert await kept.found() == {"duplicated", "sequence", "operation"}


@pytest.mark.parametrize(
    "part",
    [["⟦a-6.0🦜⟧"], ["⟦a-6.0🦜⟧", "⟦a-6.1"], ["⟦a-6.0🦜⟧", "⟦a-6.1🦜⟧", "⟦a-7.0⟧"]],
    ids=["one change of two", "a marker cut off", "one that nobody sent"],
)
@pytest.mark.parametrize("acknowledged", [True, False])
async def test_an_update_of_which_only_a_part_is_there_is_half(kept: Kept, part: list[str], acknowledged: bool) -> None:
    if not acknowledged:
        kept.history.updates["a-6"].acknowledged = kept.history.updates["a-6"].sequence = None
    await kept.last_becomes(kept.before_last.splice([Splice(0, 0, marker) for marker in part]))
    assert await kept.found() == {"half"}


async def test_an_update_whose_removal_is_missing_is_half(kept: Kept) -> None:
    # The fifth put two markers in and took one out; say that it should have taken out another.
    kept.history.updates["b-5"].removed = ("⟦b-1.0🦜⟧", "⟦b-3.0🦜⟧")
    assert await kept.found() == {"half"}


async def test_a_later_update_without_the_one_before_it_is_a_gap(kept: Kept) -> None:
    never = kept.history.sending("a-0", writer="a", document=CHANNEL, markers=["⟦a-0.0⟧"])
    kept.history.updates = {never.id: never, **kept.history.updates}
    assert await kept.found() == {"gap"}


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [
        (f"UPDATE channel_snapshots SET source_hash = '{HASH_OF_NOTHING}'", {"hash"}),
        (f"UPDATE channel_snapshots SET source = '', source_hash = '{HASH_OF_NOTHING}'", {"source"}),
        ("UPDATE channel_snapshots SET document = substr(document, 1, 20)", {"unreadable"}),
        ("UPDATE channel_snapshots SET revision = revision + 1", {"revision"}),
        ("UPDATE channel_snapshots SET through_sequence = 3, revision = 3", {"sequence"}),
        ("UPDATE channel_updates SET epoch = 'e2' WHERE sequence = 7", {"epoch", "operation"}),
        ("UPDATE channel_updates SET revision = 9 WHERE sequence = 7", {"revision"}),
        ("DELETE FROM channel_updates WHERE sequence = 6", {"lost", "sidecar", "sequence"}),
        ("DELETE FROM channel_operations WHERE sequence = 6", {"sidecar", "sequence", "operation"}),
        ("UPDATE channel_operations SET operation_id = 'other' WHERE sequence = 7", {"operation"}),
        ("UPDATE channels SET revision = revision + 1", {"sequence"}),
        ("UPDATE channels SET next_sequence = next_sequence + 1", {"sequence"}),
        ("""UPDATE channel_state SET head = '{"version": 1, "documentSeq": 5, "revision": 6}'""", {"sidecar", "sequence"}),
        ("""UPDATE channel_state SET head = '{"version": 1, "documentSeq": 6, "revision": 5}'""", {"sidecar"}),
        ("DELETE FROM channel_snapshots", {"snapshot"}),
    ],
)
async def test_rows_that_do_not_agree_are_named(kept: Kept, statement: str, kinds: set[str]) -> None:
    await kept.damage(statement)
    assert await kept.found() == kinds


async def test_the_other_readers_find_what_they_cannot_open(kept: Kept) -> None:
    await kept.damage("DELETE FROM channel_updates WHERE sequence = 6")
    rows = await kept.rows()
    assert {violation.kind for violation in await opened_by_core(kept.url, [rows])} == {"recovery"}
    assert {violation.kind for violation in await opened_by_yjs([rows])} == {"yjs"}


def test_a_sequence_that_goes_back_is_complained_of() -> None:
    history = History()
    for number in (1, 2):
        history.sending(f"a-{number}", writer="a", document=CHANNEL, markers=[f"⟦a-{number}.0⟧"])
    history.told("a-1", 2)
    assert history.complaints == []
    history.told("a-2", 1)
    assert len(history.complaints) == 1
