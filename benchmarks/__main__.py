"""
``python -m benchmarks``: every row of the speed we aim at, with its ratio beside the bar.

Each comparison is made in one run on one PostgreSQL, its sides taking turns. The rows go to the terminal as they are
measured and to ``out/latest.json`` at the end; a missed bar is reported and not an error, since machines differ.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final, TypeAlias

from benchmarks import acknowledgements, catalogue, commits, jobs, memory, recovery, rooms, sidecars, start
from benchmarks.effort import FULL, QUICK, Effort
from benchmarks.machine import look
from benchmarks.peers import side_by_side
from benchmarks.report import LATEST, line, table, write_json
from benchmarks.row import Row
from chopin_storage_pg.testing import ScratchServer, open_server

Group: TypeAlias = Callable[[ScratchServer, Effort], AsyncIterator[Row]]

GROUPS: Final[Mapping[str, Group]] = {
    "commits": commits.rows,
    "sidecars": sidecars.rows,
    "acknowledgements": acknowledgements.rows,
    "recovery": recovery.rows,
    "catalogue": catalogue.rows,
    "jobs": jobs.rows,
    "rooms": rooms.rows,
    "memory": memory.rows,
    "start": start.rows,
    "peers": side_by_side.rows,
}


def main() -> None:
    options = _options()
    chosen = [options.only] if options.only else list(GROUPS)
    with open_server() as server:
        machine = look(server)
        for name, value in machine.lines().items():
            _say(f"{name:20} {value}")
        rows = asyncio.run(_measured(chosen, server, QUICK if options.quick else FULL))
    if not options.only:
        write_json(rows)
        _say(f"written to {LATEST.relative_to(LATEST.parent.parent.parent)}")
    if options.table:
        _say("\n" + table(rows, machine))


async def _measured(chosen: list[str], server: ScratchServer, effort: Effort) -> list[Row]:
    rows = []
    for name in chosen:
        _say(f"\n{name}")
        async for row in GROUPS[name](server, effort):
            _say(line(row))
            rows.append(row)
    return rows


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what Chopin costs.")
    parser.add_argument("--quick", action="store_true", help="once around, to see that everything works")
    parser.add_argument("--only", choices=GROUPS, help="one group; latest.json stays as it is")
    parser.add_argument("--table", action="store_true", help="end with a table for docs/reference/benchmarks.md")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
