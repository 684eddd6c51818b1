"""What an interrupted call left in the database and in the server, held against what its caller was told."""

from __future__ import annotations

import asyncio
from typing import Any, Final, TypeAlias, cast

import attrs

from chopin_core.errors import CommitRejected, OutcomeUnknown, StorageUnavailable
from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.ports.collaboration import CommitResult
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.tables import channel_operations, metadata, storage_leases

from interrupting import Caller, Crash, Interrupted, Kind
from storage_calls import Call, Scene
from watch import Watch

Trace: TypeAlias = tuple[tuple[Any, ...], ...]
"""All rows that bear a scene's name, without it: equal for two scenes with which the same was done."""

Model: TypeAlias = tuple[tuple[str, str], ...]
"""Tables and rows of them, as JSON, in an order in which they can be inserted."""

PROMPT: Final = 1.5
"""Seconds. Less than the server takes to end a session by itself that sits in a transaction."""

_HOURS_LEFT: Final = "greatest(-1, round(extract(epoch FROM expires_at - clock_timestamp()) / 3600))"
_SHOWN: Final = {
    storage_leases: f"concat_ws(' ', name, owner, fencing, {_HOURS_LEFT})",
    channel_operations: "concat_ws(' ', channel_id, operation_id, sequence, revision)",
}
"""Of these not what the hour of the run decides."""

_ROWS: Final = " UNION ALL ".join(
    f"SELECT '{table.name}' AS found_in, {_SHOWN.get(table, 'row_to_json(found)::text')} AS content FROM {table.name} AS found"
    for table in metadata.sorted_tables
)
_PLACES: Final = {table.name: place for place, table in enumerate(metadata.sorted_tables)}


async def trace(watch: Watch, scene: Scene) -> Trace:
    named = [scene.name, scene.report]
    rows = await watch.rows(
        f"SELECT found_in, content FROM ({_ROWS}) AS kept WHERE strpos(content, %s) > 0 OR strpos(content, %s) > 0", *named
    )
    return tuple(
        sorted((where, _renamed(content, scene.name, "*").replace(scene.report, "report of *")) for where, content in rows)
    )


async def rows_of(watch: Watch, scene: Scene) -> Model:
    """A scene as it is now, to be copied whatever becomes of it. Its leases are complete here, and its bytes are in hex."""
    found = []
    for table in metadata.sorted_tables:
        query = f"SELECT row_to_json(found)::text FROM {table.name} AS found WHERE strpos(row_to_json(found)::text, %s) > 0"
        found += [(table.name, content) for [content] in await watch.rows(query, scene.name)]
    return tuple(sorted(found, key=lambda row: _PLACES[row[0]]))


async def copied(watch: Watch, scene: Scene, name: str) -> Scene:
    """The same scene under another name."""
    return await copied_from(watch, scene, await rows_of(watch, scene), name)


async def copied_from(watch: Watch, scene: Scene, model: Model, name: str) -> Scene:
    """The scene as those rows have it, under another name; much faster than by calls, because there are hundreds."""
    old, new = scene.name, name
    await watch.run(
        "; ".join(
            f"INSERT INTO {table} SELECT (json_populate_record(NULL::{table}, $row${_renamed(content, old, new)}$row$::json)).*"
            for table, content in model
        )
    )
    repository = attrs.evolve(scene.channel.repository, id=RepositoryId(scene.channel.repository.id.replace(scene.name, name)))
    return attrs.evolve(
        scene,
        name=name,
        channel=attrs.evolve(scene.channel, id=ChannelId(name), repository=repository),
        own=attrs.evolve(scene.own, name=name),
    )


def _renamed(content: str, old: str, new: str) -> str:
    return content.replace(old, new).replace(old.encode().hex(), new.encode().hex())


@attrs.frozen(kw_only=True)
class Evidence:
    """What a call can leave: nothing, or all of it; and what it leaves that is made again."""

    call: Call
    nothing: Trace
    whole: Trace
    twice: Trace
    watch: Watch

    async def settled(self, attempt: Interrupted, caller: Caller, scene: Scene, *, far: PgStorage, near: PgStorage) -> bool:
        """Whether the call was kept, once it is clear that its caller was told the truth and can learn the rest."""
        said = kept = told(attempt, caller, operation=self.call.operation)
        if self.call.operation:
            found = await far.collaboration.operation(scene.channel.id, scene.operation_id)
            kept = found is not None
            assert said in (None, kept), "its caller was not told the truth"
            if said:
                assert attrs.evolve(cast(CommitResult, caller.result()), repeated=True) == found
        await attempt.wire.deliver_late()
        await until_quiet(self.watch)
        left = await trace(self.watch, scene)
        assert left in (self.nothing, self.whole), "a part of it was kept"
        if self.nothing != self.whole:
            assert kept in (None, left == self.whole), "what was said of it is not what is there"
        if self.call.operation and said is None:
            again = await near.collaboration.operation(scene.channel.id, scene.operation_id)
            assert (again is not None) == kept, "another process would answer otherwise"
        return left == self.whole


def told(attempt: Interrupted, caller: Caller, *, operation: bool) -> bool | None:
    """What a caller must believe: that it was kept, that it was not, or (None) nothing."""
    interrupted = caller is attempt.victim
    if attempt.kind is Kind.CANCEL and interrupted:
        assert caller.cancelled(), f"the cancellation was swallowed, and {caller!r} is the end"
        return None
    assert not caller.cancelled(), "nobody gave up"
    match caller.exception():
        case None:
            return True
        case CommitRejected() if operation:
            return False
        case StorageUnavailable():
            return False
        case OutcomeUnknown() if not operation:
            return None
        case Crash() if attempt.kind is Kind.CRASH and interrupted:
            return None
        case ConnectionResetError() if attempt.kind is Kind.RESET and interrupted:
            return None
        case fault:
            raise AssertionError("no caller expects this") from fault


async def until_quiet(watch: Watch) -> None:
    """Soon no session is at work, idles in a transaction, or holds a lock of its own."""
    async with asyncio.timeout(PROMPT):
        await watch.until(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend' AND state <> 'idle')"
            " AND NOT EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE locktype = 'advisory' AND datname = current_database())"
        )


async def until_pool_is_whole(storage: PgStorage) -> None:
    """SQLAlchemy gives a connection back in a task of its own, which a cancelled caller does not wait for."""
    pool = storage._connections._engine.pool
    async with asyncio.timeout(PROMPT):
        while pool.checkedout():  # type: ignore[attr-defined]  # because only queue pools count
            await asyncio.sleep(0.01)
