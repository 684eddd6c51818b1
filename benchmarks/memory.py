"""What the server's memory holds: an open document, a socket, and what is left of rooms that are long gone."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from benchmarks.effort import Effort
from benchmarks.row import Row, at_most
from chopin_storage_pg.testing import ScratchServer
from chopin_web.testing.person import signed_in
from chopin_web.testing.server import serving

_TEXT: Final = "Some *ordinary* prose with `code` and a [link](https://example.com/x), as people write it.\n" * 180
"""About 16 KiB."""
_WARM: Final = 20
_WORKSPACE: Final = Path(__file__).parent.parent
_MEASURE: Final = """
import asyncio, json, sys
from proofs.leaks.cycles import measure
growth = asyncio.run(measure(int(sys.argv[1]), 0, 0))
print(json.dumps({"before": growth.rss_before, "after": growth.rss_after, "left": dict(growth.left)}))
"""


async def rows(server: ScratchServer, effort: Effort) -> AsyncIterator[Row]:
    room, socket = await _idle(server, effort.rooms)
    yield Row(name="memory of an idle room with a text of 16 KiB", value=room / 1024, unit="KiB")
    yield Row(name="memory of an idle socket, on the server", value=socket / 1024, unit="KiB")
    for row in await asyncio.to_thread(_cycles, effort.cycles):
        yield row


async def _idle(server: ScratchServer, count: int) -> tuple[float, float]:
    """Bytes of a room and of a socket, by what the process grows by when it gets many."""
    with tempfile.TemporaryDirectory(prefix="chopin-benchmarks-") as folder:
        async with (
            server.copied() as database,
            serving(database.url, Path(folder)) as chopin,
            signed_in(chopin.origin, chopin.token) as person,
            AsyncExitStack() as open,
        ):
            documents = [await person.create_document(f"Idle {number}") for number in range(_WARM + count)]

            async def opened(document: str, text: str = "") -> None:
                browser = await open.enter_async_context(person.browser(document))
                if text:
                    await browser.type_in(text)
                    await browser.settled()

            for document in documents[:_WARM]:
                await opened(document, _TEXT)
            before = _resident(chopin.pid)
            for document in documents[_WARM:]:
                await opened(document, _TEXT)
            with_rooms = _resident(chopin.pid)
            for document in documents[_WARM:]:
                await opened(document)
            with_sockets = _resident(chopin.pid)
    socket = (with_sockets - with_rooms) / count
    return (with_rooms - before) / count - socket, socket


def _resident(process: int) -> int:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _cycles(cycles: int) -> tuple[Row, Row]:
    """In a process of its own, whose memory nothing else has touched."""
    command = [sys.executable, "-c", _MEASURE, str(cycles)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=_WORKSPACE).stdout
    found = json.loads(said.splitlines()[-1])
    what = f"after {cycles:,} rooms were opened, changed and put away"
    left = sum(found["left"].values())
    return (
        Row(
            name=f"memory {what}, against before",
            value=found["after"] / 2**20,
            unit="MiB",
            ratio=found["after"] / found["before"],
            bar=at_most(1.2),
        ),
        Row(
            name=f"rooms, tasks, timers and observers left {what}", value=left, unit="left", ratio=float(left), bar=at_most(0.0)
        ),
    )
