"""Local git checkouts as repositories that keep their identity when they move."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import attrs

from chopin_core.errors import InvalidField
from chopin_core.ids import RepositoryId
from chopin_core.people import Repository, RepositoryAccess, Role

SANDBOX = RepositoryAccess(
    repository=Repository(id=RepositoryId("L_sandbox"), owner="local", name="sandbox"),
    role=Role.ADMIN,
    private=True,
    url="",
    default_branch="main",
)
"""Where documents go outside any checkout."""

_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]+):(?P<path>[^/].*)")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@attrs.frozen(kw_only=True)
class Remote:
    """Where a checkout was cloned from, whatever way its address is written: host and path, lower case, no ``.git``."""

    host: str
    path: str

    @property
    def key(self) -> str:
        return f"{self.host}/{self.path}".lower()

    @property
    def owner_and_name(self) -> tuple[str, str]:
        parts = [part for part in self.path.split("/") if part]
        return (parts[-2] if len(parts) > 1 else "local"), parts[-1]


def parse_remote(url: str) -> Remote | None:
    """The remote behind a git URL (``https``, ``ssh``, ``git@host:path``), or None for a local path or nothing."""
    if "://" in url:
        split = urlsplit(url)
        host, path = split.hostname or "", split.path
    elif matched := _SCP.fullmatch(url):
        host, path = matched["host"], matched["path"]
    else:
        return None
    path = path.strip("/").removesuffix(".git").strip("/")
    return Remote(host=host, path=path) if host and path else None


def open_checkouts(paths: Iterable[Path]) -> tuple[RepositoryAccess, ...]:
    """
    The repositories at these paths, each once.

    Raises:
        InvalidField: a path is not inside a git checkout.
    """
    found: dict[RepositoryId, RepositoryAccess] = {}
    for path in paths:
        access = _checkout(path)
        if access is None:
            raise InvalidField("--repo", f"{path} is not inside a git checkout")
        found[access.repository.id] = access
    return tuple(found.values())


def current_checkout(directory: Path) -> RepositoryAccess:
    """The checkout around a directory, or the sandbox."""
    return _checkout(directory) or SANDBOX


def _checkout(path: Path) -> RepositoryAccess | None:
    root = _git(path, "rev-parse", "--show-toplevel")
    if root is None:
        return None
    origin = _git(path, "config", "--get", "remote.origin.url") or ""
    remote = parse_remote(origin)
    # Without a remote the path is all there is to know the checkout by; with one it may move and keep its documents.
    key = remote.key if remote else str(Path(root).resolve())
    owner, name = remote.owner_and_name if remote else ("local", Path(root).name)
    return RepositoryAccess(
        repository=Repository(
            id=RepositoryId(f"L_{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"),
            owner=_name(owner),
            name=_name(name),
        ),
        role=Role.ADMIN,
        private=True,
        url=f"https://{remote.host}/{remote.path}" if remote else "",
        default_branch=_git(path, "symbolic-ref", "--short", "HEAD") or "main",
    )


def _name(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text).strip("-") or "checkout"


def _git(path: Path, *words: str) -> str | None:
    """What git says, or None when it has nothing to say, is not installed, or the path is no checkout."""
    try:
        done = subprocess.run(["git", "-C", str(path), *words], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
