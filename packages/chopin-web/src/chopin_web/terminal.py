"""What all commands ask for and say in the same way: the data directory, how far they are, and one clear line on failure."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click
import platformdirs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from chopin_core.errors import ChopinError

console = Console(stderr=True, highlight=False)


def data_directory() -> Path:
    return platformdirs.user_data_path("chopin", appauthor=False)


@contextmanager
def one_clear_line(status: int = 1) -> Iterator[None]:
    """What went wrong as a line for a person, and a status that is not zero."""
    try:
        yield
    except (ChopinError, OSError) as error:
        fail(str(error), status)


def fail(sentence: str, status: int = 1) -> NoReturn:
    click.echo(f"chopin: {sentence}", err=True)
    sys.exit(status)


@contextmanager
def only_process(directory: Path) -> Iterator[None]:
    """Hold the directory; a second process on it is told at once. The system lets go when we die, however we die."""
    with open(directory / "lock", "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fail(f"another Chopin is running on {directory}")
        yield


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """
    Shows what is being done, how much of it is done, and of how much (0: not known); on a terminal, and nowhere else.

    It is gone as soon as the last piece is done, so that lines may follow.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bars = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=False,  # to standard error, of all places
        redirect_stderr=False,
    )
    tasks: dict[str, TaskID] = {}

    def told(what: str, done: int, total: int) -> None:
        if what not in tasks:
            for earlier in tasks.values():
                bars.update(earlier, visible=False)
            tasks[what] = bars.add_task(what)
            bars.start()
        bars.update(tasks[what], completed=done, total=total or None)
        if 0 < total <= done:
            bars.stop()

    try:
        yield told
    finally:
        bars.stop()
