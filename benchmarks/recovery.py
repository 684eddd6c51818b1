"""
Opening the largest document again when nobody folded its journal: the load from storage, and the room that comes of it.

Its text has 256 KiB, most of it in the checkpoint and a letter in each row of the journal, typed here and there as people do.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Final

import attrs
import psycopg

from benchmarks.effort import Effort
from benchmarks.keystrokes import EPOCH, keystroke, new_channel, writing
from benchmarks.row import Row, at_most
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.document.validity import LARGEST_SOURCE
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.ids import ChannelId
from chopin_core.running import running
from chopin_storage_pg.storage import PgStorage, open_storage
from chopin_storage_pg.testing import ScratchServer

_JOURNALS: Final = (100, 1_000, 10_000)
_PARAGRAPH: Final = "Some *ordinary* prose with `code`, a [link](https://example.com/x) and **more**, as people write it.\n\n"
_JUMP: Final = 40
"""After so many letters people put the caret elsewhere."""


@attrs.frozen(kw_only=True)
class _Written:
    """A document as storage has it: what was folded, and what came since."""

    source: str
    document: bytes
    updates: Sequence[bytes]


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    async with server.copied() as database:
        async with writing(database) as (storage, _), await psycopg.AsyncConnection.connect(database.url) as session:
            places = {}
            for length in _JOURNALS:
                document = _typed(length)
                places[length] = [(await new_channel(storage, f"{length} {time}")).id for time in range(min(effort.runs, 7))]
                for channel in places[length]:
                    await _seed(session, channel, document)
        async with await open_storage(database.url) as storage:
            loads = {length: await _loading(storage, channels) for length, channels in places.items()}
            opens = {length: await _opening(storage, channels) for length, channels in places.items()}
    longest = _JOURNALS[-1]
    for what, seconds in (("load from storage", loads), ("open as a room", opens)):
        for length in _JOURNALS[:-1]:
            yield Row(name=f"{what}, 256 KiB, {length:,} journal rows", value=seconds[length] * 1e3, unit="ms")
        yield Row(
            name=f"{what}, 256 KiB, {longest:,} journal rows, against 1 s",
            value=seconds[longest] * 1e3,
            unit="ms",
            ratio=seconds[longest],
            bar=at_most(1.0),
        )
        yield Row(
            name=f"{what}: growth from 1,000 to {longest:,} rows, against tenfold",
            value=seconds[longest] / seconds[1_000],
            unit="times",
            ratio=seconds[longest] / seconds[1_000] / 10,
            bar=at_most(1.0),
        )


def _typed(letters: int) -> _Written:
    whole = (_PARAGRAPH * (LARGEST_SOURCE // len(_PARAGRAPH) + 1))[: LARGEST_SOURCE - letters - 1].rstrip() + "\n"
    replica = PycrdtEngine().new()
    replica.splice([Splice(0, 0, whole)])
    document, chance, place, updates = replica.update(), random.Random(letters), 0, []
    for number in range(letters):
        if number % _JUMP == 0:
            place = chance.randrange(len(whole) - 1)
        updates.append(replica.splice([Splice(place, place, "x")]))
        place += 1
    return _Written(source=canonical(whole), document=document, updates=updates)


async def _seed(session: psycopg.AsyncConnection[tuple[object, ...]], channel: ChannelId, written: _Written) -> None:
    """Everything the commits would have left, by COPY."""
    keys = [keystroke(channel, number) for number in range(1, len(written.updates) + 1)]
    async with session.cursor() as cursor:
        async with cursor.copy("COPY channel_operations (channel_id, operation_id, sequence, revision) FROM STDIN") as copy:
            for key in keys:
                await copy.write_row((channel, key.operation_id, key.number, key.number))
        async with cursor.copy("COPY channel_updates (channel_id, sequence, revision, epoch, update) FROM STDIN") as copy:
            for key, update in zip(keys, written.updates, strict=True):
                await copy.write_row((channel, key.number, key.number, EPOCH, update))
        await cursor.execute(
            "UPDATE channel_snapshots SET source = %s, source_hash = %s, document = %s WHERE channel_id = %s",
            (written.source, source_hash(written.source), written.document, channel),
        )
        last = len(keys)
        await cursor.execute(
            "UPDATE channels SET revision = %s, next_sequence = %s, updated_at = %s WHERE id = %s",
            (last, last + 1, datetime.now(UTC), channel),
        )
    await session.commit()


async def _loading(storage: PgStorage, channels: Sequence[ChannelId]) -> float:
    times = []
    for channel in channels:
        started = perf_counter()
        assert await storage.collaboration.load(channel) is not None
        times.append(perf_counter() - started)
    return median(times)


async def _opening(storage: PgStorage, channels: Sequence[ChannelId]) -> float:
    """Each channel once, since a room that is put away folds its journal."""
    times = []
    async with running(storage, PycrdtEngine(), owner="benchmarks") as chopin:
        for channel in channels:
            started = perf_counter()
            async with chopin.rooms.hold(channel) as room:
                times.append(perf_counter() - started)
                assert len(room.view().text) > LARGEST_SOURCE - len(_PARAGRAPH), "the journal was read"
    return median(times)
