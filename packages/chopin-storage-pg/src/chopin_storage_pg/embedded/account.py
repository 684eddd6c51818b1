"""Which account the server runs as: PostgreSQL refuses to be root, and a container often has nobody else."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypedDict

import attrs

from chopin_storage_pg.embedded.failure import ServerFailed

ACCOUNTS: Final = ("postgres", "nobody")
"""Accounts that machines have anyway; the first that exists owns a new directory. None is ever created."""

_CAPABILITIES: Final = {"dac_read_search": 2, "dac_override": 1}
"""What lets an account pass folders that are closed to it, the smaller right first, and its bit in the kernel's masks."""


@attrs.frozen(kw_only=True)
class Account:
    """Somebody to run the server as; made only when we are root."""

    uid: int
    gid: int

    def owns(self, path: Path) -> None:
        """Make the account the owner of a file or folder of ours."""
        os.chown(path, self.uid, self.gid)

    def enters(self, folder: Path) -> bool:
        """Whether the permission bits let the account pass through a folder."""
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def account_for(directory: Path, cluster: Path) -> Account | None:
    """
    Who is to run a server: None for ourselves; for root the owner of the cluster, or of a new one the first of
    :data:`ACCOUNTS`.

    Raises:
        ServerFailed: the cluster is somebody else's, or we are root and the machine has no other account.
    """
    owner = cluster.stat() if cluster.exists() else None
    if os.geteuid() != 0:
        if owner is not None and owner.st_uid != os.geteuid():
            raise ServerFailed(str(directory), "belongs to another account")
        return None
    if owner is not None:
        return Account(uid=owner.st_uid, gid=owner.st_gid)
    for name in ACCOUNTS:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(uid=found.pw_uid, gid=found.pw_gid)
    raise ServerFailed(str(directory), f"cannot run as root, and the machine has no account {' or '.join(ACCOUNTS)}")


class Identity(TypedDict, total=False):
    """Who ``subprocess`` lets a program be; empty for ourselves."""

    user: int
    group: int
    extra_groups: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Invocation:
    """How to start a program as an account: the whole command, and whom to become."""

    command: Sequence[str]
    identity: Identity = attrs.field(factory=Identity)


def invocation(command: Sequence[str], *, account: Account | None, needs: Sequence[Path], directory: Path) -> Invocation:
    """
    The command as it has to be run so that ``account`` reaches every path of ``needs``.

    Where folders on the way are closed to the account (``/root`` is, as a rule), their permissions stay as they are: the
    program is given the one capability that passes them, by ``setpriv``.

    Raises:
        ServerFailed: a folder is closed and that capability cannot be had.
    """
    if account is None:
        return Invocation(command=command)
    ways = [*needs, *(path.resolve() for path in needs)]  # a link is followed by whoever opens it
    closed = [folder for path in ways for folder in path.parents if not account.enters(folder)]
    if not closed:
        return Invocation(command=command, identity=Identity(user=account.uid, group=account.gid, extra_groups=()))
    capability, setpriv = _capability(), shutil.which("setpriv")
    if capability is None or setpriv is None:
        raise ServerFailed(str(directory), f"cannot be reached by the server's account, to which {closed[0]} is closed")
    become = [f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups"]
    rights = [f"--{kind}=-all,+{capability}" for kind in ("bounding-set", "inh-caps", "ambient-caps")]
    return Invocation(command=[setpriv, *become, *rights, *command])


def _capability() -> str | None:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except FileNotFoundError:
        return None
    held = next((int(line.split()[1], 16) for line in lines if line.startswith("CapPrm:")), 0)
    return next((name for name, bit in _CAPABILITIES.items() if held & 1 << bit), None)
