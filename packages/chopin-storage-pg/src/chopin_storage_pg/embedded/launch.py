"""Bringing up the server of a directory, whatever state an earlier one left it in."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psycopg

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.account import Account, invocation
from chopin_storage_pg.embedded.address import address, url
from chopin_storage_pg.embedded.directory import ENVIRONMENT, Directory, binary
from chopin_storage_pg.embedded.failure import ServerFailed
from chopin_storage_pg.embedded.postmaster import Postmaster

_SETTINGS: Final = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Nothing of a document may reach the log: neither statements nor the values in an error's details.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
_READY_WITHIN: Final = 120.0
"""Recovery after a crash replays the journal first, and that may take its time."""
_LOG_BYTES: Final = 8 * 2**20
_PASSING: Final = ("pre-existing shared memory", "address already in use", "Address already in use", "lock file")
"""
Complaints that pass: the sessions of a killed server end by themselves, a port is taken by chance, and a server whose starter
was killed at once is only just getting up.
"""
_CHILDREN: Final[dict[int, subprocess.Popen[bytes]]] = {}
"""Servers that this process started, whoever here uses them now: only their parent can see them off."""


def running(directory: Directory, account: Account | None) -> Postmaster:
    """The server: the one that is there, or else a new one."""
    deadline = time.monotonic() + _READY_WITHIN
    while True:
        found = _joined(directory) or _started(directory, account)
        if isinstance(found, Postmaster):
            return found
        if not any(passing in found for passing in _PASSING) or time.monotonic() > deadline:
            raise ServerFailed(str(directory.path), f"did not start: {found}")
        time.sleep(0.1)


def _joined(directory: Directory) -> Postmaster | None:
    """The server that runs already, once it answers; what a dead one left is cleared away."""
    file = directory.cluster / "postmaster.pid"

    def decided() -> bool:
        now = postmaster.read(directory.cluster)
        if now is None:
            return not file.exists()
        return not now.alive(directory.cluster) or (now.ready and _answers(now, directory))

    # A file that cannot be read may be one that is just being written; after a moment it is rubbish.
    unreadable = file.exists() and postmaster.read(directory.cluster) is None
    if not within(1.0 if unreadable else _READY_WITHIN, decided) and not unreadable:
        raise ServerFailed(str(directory.path), "is running but does not become ready")
    found = postmaster.read(directory.cluster)
    if found is not None and found.ready and found.alive(directory.cluster):
        return found
    # PostgreSQL itself would refuse to start if another program has the dead one's process number now.
    file.unlink(missing_ok=True)
    return None


def _started(directory: Directory, account: Account | None) -> Postmaster | str:
    """A new server once it is ready, or its own words about why it ended."""
    if directory.log.exists() and directory.log.stat().st_size > _LOG_BYTES:
        directory.log.replace(directory.log.with_suffix(".log.old"))
    already = directory.log.stat().st_size if directory.log.exists() else 0
    child = _spawned(directory, account)

    def decided() -> bool:
        now = postmaster.read(directory.cluster)
        return child.poll() is not None or (now is not None and now.pid == child.pid and now.ready)

    if not within(_READY_WITHIN, decided):
        child.kill()
        child.wait()
        raise ServerFailed(str(directory.path), "does not become ready")
    now = postmaster.read(directory.cluster)
    if child.poll() is not None or now is None:
        return _complaint(directory.log, already)
    _CHILDREN[child.pid] = child
    return now


def _spawned(directory: Directory, account: Account | None) -> subprocess.Popen[bytes]:
    program = binary("postgres", directory.path)
    settings = {**_SETTINGS, **address(directory.cluster)}
    call = invocation(
        [
            str(program),
            "-D",
            str(directory.cluster),
            *(part for name in settings for part in ("-c", f"{name}={settings[name]}")),
        ],
        account=account,
        needs=(program, directory.cluster),
        directory=directory.path,
    )
    with directory.log.open("ab") as log:
        return subprocess.Popen(
            call.command,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # the terminal's Ctrl-C is for us, not for the server
            **call.identity,
        )


def _answers(running: Postmaster, directory: Directory) -> bool:
    """Whether it lets us in; one that was killed a moment ago is still a process, and its file says that it is ready."""
    try:
        psycopg.connect(url(running, directory.password), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _complaint(log: Path, already: int) -> str:
    """The server's own reason for ending, from what it wrote to the log since."""
    with log.open("rb") as file:
        file.seek(already)
        lines = file.read(2**16).decode(errors="replace").splitlines()
    fatal = [line.partition("FATAL:")[2].strip() for line in lines if "FATAL:" in line]
    return fatal[-1] if fatal else (lines[-1].strip() if lines else "it ended without a word")


def gone(running: Postmaster, cluster: Path) -> bool:
    """Whether the server's process has ended."""
    child = _CHILDREN.get(running.pid)
    if child is None:
        return not running.alive(cluster)
    if child.poll() is None:
        return False
    del _CHILDREN[child.pid]
    return True


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
