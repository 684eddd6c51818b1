"""
A page of a repository's list and of a search, with 100,000 channels against 1,000.

Each repository has a database to itself, since a small one beside a large one would pay for its neighbour. Both hold the same
kinds of titles, so that a search finds as many in each, or as large a part of each, as its row says; a page is always of 50.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, Final

import attrs
import psycopg

from benchmarks.effort import Effort
from benchmarks.keystrokes import ADA, REPOSITORY, writing
from benchmarks.row import Row, at_most
from chopin_core.channel import slug_of
from chopin_core.ids import RepositoryId, channel_id
from chopin_core.ports.channels import Cursor, Page
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.testing import ScratchServer

SMALL: Final = 1_000
LARGE: Final = 100_000
_REPOSITORY: Final = RepositoryId("R_large")
_PAGE: Final = 50
_FEW: Final = 60
"""So many titles of each repository hold the rare word: a page and a little more."""
_FIRST: Final = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
_WORDS: Final = (
    "about agenda answer article budget calendar change channel chapter client contract corner data decision deploy "
    "design detail draft editor engine event example field figure function garden guide harbour history index journal "
    "kernel language layer letter limit list machine manual meeting memory module notes number office order outline "
    "owner page paper parser people picture plan platform question reader record release report review river room "
    "scale schedule search season section server signal sketch source station storage story summary system table team "
    "template theory thread ticket title topic travel update value version visit window winter writer"
).split()
"""What the searches below look for is in none of these."""


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    async with _seeded(server, SMALL) as small, _seeded(server, LARGE) as large:
        for few, many in zip(_questions(small, SMALL), _questions(large, LARGE), strict=True):
            times: dict[int, list[float]] = {SMALL: [], LARGE: []}
            for _ in range(effort.pages + 6):
                for size, question in ((SMALL, few), (LARGE, many)):
                    started = perf_counter()
                    page = await question.ask()
                    times[size].append(perf_counter() - started)
                    assert len(page.channels) == question.hits, f"{question.name}: {len(page.channels)} of {size}"
            # The first ones are spent on preparing the statement.
            one, other = (median(times[size][6:]) * 1e3 for size in (SMALL, LARGE))
            yield Row(
                name=f"{few.name}: {LARGE:,} channels against {SMALL:,}",
                value=other,
                unit="ms",
                ratio=other / one,
                bar=at_most(3.0),
            )
            yield Row(name=f"{few.name}: {SMALL:,} channels", value=one, unit="ms")


@attrs.frozen
class _Question:
    name: str
    hits: int
    """How many channels the page has."""
    ask: Callable[[], Awaitable[Page]]


def _questions(storage: PgStorage, size: int) -> list[_Question]:
    listed = partial(storage.channels.list, _REPOSITORY, limit=_PAGE)
    middle = Cursor(at=_FIRST + timedelta(seconds=size // 2), id=channel_id(_REPOSITORY, str(size // 2)))
    return [
        _Question("first page of the list", _PAGE, listed),
        _Question("a page in the middle of the list", _PAGE, partial(listed, after=middle)),
        _Question("first page of the scan", _PAGE, partial(storage.channels.scan, _REPOSITORY, limit=_PAGE)),
        _Question("search of 6 characters, in every tenth title", _PAGE, partial(listed, query="zephyr")),
        _Question(f"search of 6 characters, in {_FEW} titles", _PAGE, partial(listed, query="quartz")),
        _Question("search of 6 characters, in none", 0, partial(listed, query="xyzzyx")),
        _Question("search of 2 characters, in every tenth title", _PAGE, partial(listed, query="ze")),
        _Question(f"search of 2 characters, in {_FEW} titles", _PAGE, partial(listed, query="tz")),
        _Question("search of 2 characters, in none", 0, partial(listed, query="xq")),
        _Question("search of 1 character, in none", 0, partial(listed, query="ß")),
    ]


@asynccontextmanager
async def _seeded(server: ScratchServer, size: int) -> AsyncIterator[PgStorage]:
    """A storage whose database holds one repository of so many channels, as autovacuum would leave it."""
    async with server.copied() as database, writing(database) as (storage, _):
        async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as session:
            await _seed(session, size)
            await session.execute("VACUUM ANALYZE")
        yield storage


async def _seed(session: psycopg.AsyncConnection[tuple[Any, ...]], count: int) -> None:
    """So many channels, each a second after the one before, with everything that makes them valid."""
    chance = random.Random(count)
    rare = set(chance.sample(range(count), _FEW))
    titles = []
    for number in range(count):
        words = chance.choices(_WORDS, k=4)
        words += ["zephyr"] * (number % 10 == 0) + ["quartz"] * (number in rare)
        titles.append(" ".join([*words, str(number)]).capitalize())
    channels = [
        (channel_id(_REPOSITORY, str(number)), title, _FIRST + timedelta(seconds=number)) for number, title in enumerate(titles)
    ]
    at = (REPOSITORY.owner, REPOSITORY.name, ADA.id)
    tables = {
        "channels (id, repository_id, repository_owner, repository_name, created_by, title, created_at, updated_at)": (
            (id, _REPOSITORY, *at, title, instant, instant) for id, title, instant in channels
        ),
        "channel_search (channel_id, repository_id, title_key)": (
            (id, _REPOSITORY, title.lower()) for id, title, _ in channels
        ),
        "channel_slugs (repository_id, slug, channel_id, canonical, created_at)": (
            (_REPOSITORY, slug_of(title), id, True, instant) for id, title, instant in channels
        ),
        "channel_state (channel_id)": ((id,) for id, _, _ in channels),
    }
    async with session.cursor() as cursor:
        for table, given in tables.items():
            async with cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
                for row in given:
                    await copy.write_row(row)
