"""The server of a directory as its users have it: started, shared, stopped."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from chopin_storage_pg.embedded import launch, postmaster
from chopin_storage_pg.embedded.account import account_for
from chopin_storage_pg.embedded.address import url
from chopin_storage_pg.embedded.directory import Directory, locked
from chopin_storage_pg.embedded.failure import ServerFailed
from chopin_storage_pg.embedded.postmaster import Postmaster

_STOPPED_WITHIN: Final = 30.0


class EmbeddedPostgres:
    """
    A running server; ``url`` names its database. Made by :meth:`start`, and a context manager that stops it.

    Processes that start one directory share one server: each may use it, and the last to stop does stop it. A process that
    is killed is no longer counted, and whoever starts the directory next takes over the server it left running.

    These calls block for about a second; an event loop waits for them in a thread.
    """

    def __init__(self, directory: Directory, running: Postmaster, users: int) -> None:
        self.url: Final = url(running, directory.password)
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
                    return cls(directory, launch.running(directory, account), users)
                except BaseException:
                    os.close(users)
                    raise
        except OSError as error:
            raise ServerFailed(str(directory.path), f"cannot be used: {error.strerror or type(error).__name__}") from error

    @classmethod
    def discard(cls, path: Path) -> None:
        """Delete a directory that no process uses any more, after stopping the server that somebody killed may have left."""
        directory = Directory(path)
        if not directory.cluster.exists():
            return
        with directory.alone():
            users = os.open(directory.users, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                if locked(users, fcntl.LOCK_EX):
                    left = postmaster.read(directory.cluster)
                    if left is not None:
                        cls(directory, left, users)._shut_down()
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(users)

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
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._running.pid, order)
            if launch.within(_STOPPED_WITHIN, self._gone):
                return
        raise ServerFailed(str(self._directory.path), "did not stop")

    def _gone(self) -> bool:
        return launch.gone(self._running, self._directory.cluster)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
