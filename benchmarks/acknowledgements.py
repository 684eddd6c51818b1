"""
From an edit in a browser to its durable acknowledgement over the WebSocket, held against one bare commit.

The bar was set for what is left without the 5 ms for which updates gathered once; they do not any more (ADR 11), so there is
nothing to take off.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Final

from benchmarks import bare
from benchmarks.effort import Effort
from benchmarks.keystrokes import new_channel, writing
from benchmarks.row import Row, at_most
from chopin_core.document.splice import Splice
from chopin_storage_pg.testing import ScratchServer
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import serving

GATHERING: Final = 0.008
"""
Our client lets keystrokes of so many seconds travel together; without a pause this would run into the rate limit. Both sides
pause: a processor and a database that have just been at work answer up to twice as fast.
"""


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    """One person types, each letter after the last was acknowledged, in turns with a bare commit on the same database."""
    answers, commits = [], []
    with tempfile.TemporaryDirectory(prefix="chopin-benchmarks-") as folder:
        async with server.copied() as database:
            async with writing(database) as (storage, _):
                channel = (await new_channel(storage, "bare")).id
            async with (
                bare.threads(database.url, [channel]) as threads,
                serving(database.url, Path(folder)) as chopin,
                signed_in(chopin.origin, chopin.token) as person,
                person.browser(await person.create_document("Typed")) as browser,
            ):
                for number in range(effort.keystrokes):
                    update = browser.replica.splice([Splice(number, number, "x")])
                    await asyncio.sleep(GATHERING)
                    started = perf_counter()
                    await browser.submit(update)
                    await browser.settled()
                    answers.append(perf_counter() - started)
                    await asyncio.sleep(GATHERING)
                    started = perf_counter()
                    threads.write(1)
                    commits.append(perf_counter() - started)
    warm = effort.keystrokes // 10
    answer, commit = median(answers[warm:]) * 1e3, median(commits[warm:]) * 1e3
    yield Row(
        name="edit to durable acknowledgement, one writer, p50, against a bare commit",
        value=answer,
        unit="ms",
        ratio=answer / commit,
        bar=at_most(2.0),
    )
    yield Row(name="edit to durable acknowledgement, p99", value=quantiles(answers[warm:], n=100)[98] * 1e3, unit="ms")
    yield Row(name="bare commit beside them, p50", value=commit, unit="ms")
