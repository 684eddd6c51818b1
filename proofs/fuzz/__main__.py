"""``python -m proofs.fuzz``: hostile bytes to a live server, and whether anybody but their sender notices."""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click
from rich.console import Console

from chopin_storage_pg.testing import ScratchServer, open_server
from chopin_web.testing.server import Server

from .campaign import Plan, Report, campaign
from .keeping import keep_frames, keep_updates
from .tally import table

OUT = Path(__file__).parents[1] / "out"

progress = Console(stderr=True, highlight=False, soft_wrap=True)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--updates", default=20_000, show_default=True, help="Hostile Yjs updates.")
@click.option("--frames", default=20_000, show_default=True, help="Hostile messages.")
@click.option("--garbage", default=20, show_default=True, help="Rounds of each kind of garbage around and in a WebSocket.")
@click.option("--floods", default=3, show_default=True, help="Floods of header bombs, and of one edit.")
@click.option("--rate", default=80.0, show_default=True, help="Updates a second, and as many messages.")
@click.option("--slower", type=float, help="Fail when the median latency of others grows by more than this factor.")
@click.option("--seed", type=int, help="Of everything that is sent; a random one if none is given.")
@click.option("--keep", is_flag=True, help="Only search for the most interesting inputs, and write the corpus anew.")
def command(
    updates: int, frames: int, garbage: int, floods: int, rate: float, slower: float | None, seed: int | None, keep: bool
) -> None:
    """Prove that hostile bytes cost nobody anything but their sender."""
    with open_server() as postgres:
        if keep:
            asyncio.run(_keep(postgres))
            return
        seed = secrets.randbelow(10**6) if seed is None else seed
        progress.print(f"Seed {seed}")
        plan = Plan(
            updates=updates,
            frames=frames,
            garbage=garbage,
            floods=floods,
            seed=seed,
            updates_per_second=rate,
            frames_per_second=rate,
            slower=slower,
        )
        report = asyncio.run(_campaign(postgres, plan))
    Console(highlight=False, soft_wrap=True).print(told(report), markup=False)
    sys.exit(1 if report.violations else 0)


async def _campaign(postgres: ScratchServer, plan: Plan) -> Report:
    async with _server(postgres) as server:
        report = await campaign(server, plan, progress.print)
        if report.violations:
            OUT.mkdir(exist_ok=True)
            evidence = OUT / f"fuzz-{plan.seed}.txt"
            evidence.write_text("\n".join([*report.violations, "", server.log.read_text()]))
            progress.print(f"[bold red]Not as promised.[/] Evidence: {evidence.relative_to(OUT.parents[1])}")
    return report


async def _keep(postgres: ScratchServer) -> None:
    progress.print("Searching for updates; this takes some minutes")
    progress.print(f"{keep_updates()} updates kept")
    async with _server(postgres) as server, server:
        progress.print(f"{await keep_frames(server)} messages kept")


@asynccontextmanager
async def _server(postgres: ScratchServer) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory(prefix="chopin-fuzz-") as folder:
        async with postgres.copied() as database:
            yield Server(Path(folder), database_url=database.url)


def told(report: Report) -> str:
    """The report as a person reads it."""
    damage = report.damage
    before, after = report.memory
    parts = [
        f"Hostile updates: {damage.updates.sent}",
        table(damage.updates.outcomes),
        f"Closed: {dict(damage.updates.closed)}. Refused because: {dict(report.reasons)}",
        f"Hostile messages: {damage.frames.sent}",
        table(damage.frames.outcomes),
        f"Closed: {dict(damage.frames.closed)}",
        f"Garbage: {damage.garbage.sent} connections",
        table(damage.garbage.outcomes),
        "From an edit of somebody honest to its acknowledgement",
        *(
            f"{place:<22} before: {was}\n{'':<22} during: {now}, {now.median / was.median:.2f} times the median"
            for place, (was, now) in report.people.items()
        ),
        f"{report.edits} honest edits, each acknowledged once; {report.rooms} rooms opened again, in Yjs too",
        f"Memory: {before} KiB before, {after} KiB after ({after / before:.2f} times)",
        "\n".join(["Violations:", *report.violations]) if report.violations else "No violation",
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    command()
