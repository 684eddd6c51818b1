"""Starting, sharing and stopping the server of a directory."""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

import psycopg

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.account import Account, account_for, invocation
from chopin_storage_pg.embedded.directory import ENVIRONMENT, USER, Directory, binary, locked
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
_STOPPED_WITHIN: Final = 30.0
_LOG_BYTES: Final = 8 * 2**20
_PASSING: Final = ("pre-existing shared memory", "address already in use", "Address already in use", "lock file")
"""
Complaints that pass: the sessions of a killed server end by themselves, a port is taken by chance, and a server whose starter
was killed at once is only just getting up.
"""
_CHILDREN: Final[dict[int, subprocess.Popen[bytes]]] = {}
"""Servers that this process started, whoever here uses them now: only their parent can see them off."""
_SOCKET_PATH_BYTES: Final = 103
"""The longest path of a Unix socket that every system allows."""


class EmbeddedPostgres:
    """
    A running server; ``url`` names its database. Made by :meth:`start`, and a context manager that stops it.

    Processes that start one directory share one server: each may use it, and the last to stop does stop it. A process that
    is killed is no longer counted, and whoever starts the directory next takes over the server it left running.

    These calls block for about a second; an event loop waits for them in a thread.
    """

    def __init__(self, directory: Directory, running: Postmaster, users: int) -> None:
        self.url: Final = _url(running, directory.password)
        self._directory = directory
        self._running = running
        self._users = users
        self._stopped = False

    @classmethod
    def start(cls, path: Path) -> Self:
        """
        Start the server of a directory, made if need be, or join the one that runs there.

        Raises:
            ServerFailed: it cannot be had.
        """
        directory = Directory(path.expanduser().absolute())
        try:
            directory.path.mkdir(mode=0o711, parents=True, exist_ok=True)
            with directory.alone():
                account = account_for(directory.path, directory.cluster)
                directory.make_cluster(account)
                users = os.open(directory.users, os.O_RDWR | os.O_CREAT, 0o600)
                try:
                    locked(users, fcntl.LOCK_SH)
                    return cls(directory, _running(directory, account), users)
                except BaseException:
                    os.close(users)
                    raise
        except OSError as error:
            raise ServerFailed(str(directory.path), f"cannot be used: {error.strerror or type(error).__name__}") from error

    def stop(self) -> None:
        """
        Stop using the server; unless another process does, shut it down and wait until everything is on disk.

        Raises:
            ServerFailed: it did not end in time; it goes on by itself, and nothing is lost.
        """
        if self._stopped:
            return
        self._stopped = True
        try:
            with self._directory.alone():
                if locked(self._users, fcntl.LOCK_EX):
                    self._shut_down()
        finally:
            os.close(self._users)

    def _shut_down(self) -> None:
        for order in (signal.SIGINT, signal.SIGQUIT):  # disconnect everybody; then: now, and recover at the next start
            if self._gone():
                return
            os.kill(self._running.pid, order)
            if _within(_STOPPED_WITHIN, self._gone):
                return
        raise ServerFailed(str(self._directory.path), "did not stop")

    def _gone(self) -> bool:
        child = _CHILDREN.get(self._running.pid)
        if child is None:
            return not self._running.alive(self._directory.cluster)
        if child.poll() is None:
            return False
        del _CHILDREN[child.pid]
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _running(directory: Directory, account: Account | None) -> Postmaster:
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
    if not _within(1.0 if unreadable else _READY_WITHIN, decided) and not unreadable:
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

    if not _within(_READY_WITHIN, decided):
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
    settings = {**_SETTINGS, **_address(directory.cluster)}
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


def _address(cluster: Path) -> dict[str, str]:
    """
    Where to listen: on a socket in the cluster, which nobody else may enter, or on loopback if its path does not fit.

    A comma separates folders for the server, and hosts for a client. The port only names the socket file there; a new one
    each time keeps a dying server from taking away its successor's.
    """
    port = secrets.choice(range(1024, 2**16))
    if len(os.fsencode(cluster / f".s.PGSQL.{port}")) <= _SOCKET_PATH_BYTES and "," not in str(cluster):
        quoted = str(cluster).replace('"', '""')
        return {
            "listen_addresses": "",
            "unix_socket_directories": f'"{quoted}"',
            "unix_socket_permissions": "0700",
            "port": str(port),
        }
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    return {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": str(free)}


def _url(running: Postmaster, password: str) -> str:
    if running.socket_directory:
        return f"postgresql://{USER}:{password}@/postgres?host={quote(running.socket_directory, safe='')}&port={running.port}"
    return f"postgresql://{USER}:{password}@127.0.0.1:{running.port}/postgres"


def _answers(running: Postmaster, directory: Directory) -> bool:
    """Whether it lets us in; one that was killed a moment ago is still a process, and its file says that it is ready."""
    try:
        psycopg.connect(_url(running, directory.password), connect_timeout=5).close()
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


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
