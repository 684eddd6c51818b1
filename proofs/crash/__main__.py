"""``python -m proofs.crash``: end servers and databases under people who write, and count what was lost."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import tempfile
from pathlib import Path
from random import Random

import click
from rich.console import Console

from chopin_storage_pg.embedded.server import EmbeddedPostgres
from chopin_storage_pg.testing import ScratchServer, open_server

from .kills import kills
from .local import local_scene
from .pauses import Moment, pause
from .report import Tally, Violated
from .stops import stops

PAIRS = 4
"""How many rounds of two processes go on at once: most of such a round is waiting for a lease to end."""

_PREFIX = "chopin-crash-"
_LOCAL = "local"

progress = Console(stderr=True, highlight=False, soft_wrap=True)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--kills", "kill_rounds", default=50, show_default=True, help="Rounds of kill -9 on the server.")
@click.option("--stops", "stop_rounds", default=10, show_default=True, help="Rounds of an immediate stop of PostgreSQL.")
@click.option("--pauses", "pause_rounds", default=10, show_default=True, help="Rounds of SIGSTOP on the writer past its lease.")
@click.option("--seed", type=int, help="Of what is written and when it is ended; a random one if none is given.")
def command(kill_rounds: int, stop_rounds: int, pause_rounds: int, seed: int | None) -> None:
    """Prove that nothing acknowledged is lost or doubled, whatever is ended and whenever."""
    seed = secrets.randbelow(10**6) if seed is None else seed
    progress.print(f"Seed {seed}")
    tally = Tally()
    _discard_abandoned()
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # PostgreSQL runs under another account when we are root
        try:
            with open_server() as postgres:
                asyncio.run(_run(postgres, Path(folder), tally, kill_rounds, stop_rounds, pause_rounds, seed))
        except* Violated as group:
            for number, violated in enumerate(_leaves(group)):
                tally.violations += violated.violations
                path = violated.kept(f"crash-{seed}-{number}").relative_to(Path(__file__).parents[2])
                progress.print(f"[bold red]Not as promised:[/] {violated}\nEvidence: {path}")
    Console(highlight=False).print(tally.table())
    sys.exit(1 if tally.violations else 0)


async def _run(
    postgres: ScratchServer, folder: Path, tally: Tally, kill_rounds: int, stop_rounds: int, pause_rounds: int, seed: int
) -> None:
    free = asyncio.Semaphore(PAIRS)

    async def one_process() -> None:
        async with local_scene(folder / _LOCAL, Random(f"{seed} local"), tally) as (scene, database):
            async for line in kills(scene, kill_rounds):
                progress.print(line)
            async for line in stops(scene, database, stop_rounds):
                progress.print(line)

    async def two_processes(number: int) -> None:
        moment = list(Moment)[number % len(Moment)]
        async with free:
            seconds = await pause(postgres, folder / f"pair-{number}", Random(f"{seed} pair {number}"), tally, moment)
        progress.print(f"pause {number}/{pause_rounds} while {moment.value}: taken over after {seconds:.1f} s")

    async with asyncio.TaskGroup() as tasks:
        if kill_rounds or stop_rounds:
            tasks.create_task(one_process())
        for number in range(1, pause_rounds + 1):
            tasks.create_task(two_processes(number))


def _discard_abandoned() -> None:
    """A run that was itself killed could not stop its PostgreSQL; the next one does."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        EmbeddedPostgres.discard(folder / _LOCAL / "data" / "postgres")


def _leaves(group: BaseExceptionGroup[Violated]) -> list[Violated]:
    found: list[Violated] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


if __name__ == "__main__":
    command()
