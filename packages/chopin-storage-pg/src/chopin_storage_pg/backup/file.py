"""
A backup as a file: a plain tar of ``manifest.json``, ``database.dump`` (of pg_dump, custom format) and ``SHA256SUMS``.

Any tar and ``sha256sum --check`` can look into it; whoever has nothing but pg_restore can still get at the rows.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import attrs

from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.manifest import Manifest, decoded

MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
SUMS: Final = "SHA256SUMS"

CHUNK: Final = 2**20
_BLOCK: Final = tarfile.BLOCKSIZE
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


class Writer:
    """Writes the members one after the other, each in pieces; the last one, with the checksums, in :meth:`finish`."""

    def __init__(self, file: BinaryIO, at: float) -> None:
        self._file = file
        self._at = at
        self._sums: list[str] = []
        self._name = ""
        self._starts = 0
        self._hash = hashlib.sha256()

    def begin(self, name: str) -> None:
        self._name, self._starts, self._hash = name, self._file.tell(), hashlib.sha256()
        self._file.write(bytes(_BLOCK))  # the header, whose size is known at the end

    def write(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._file.write(piece)

    def end(self) -> None:
        ends = self._file.tell()
        header = tarfile.TarInfo(self._name)
        header.size, header.mode, header.mtime = ends - self._starts - _BLOCK, 0o600, int(self._at)
        self._file.seek(self._starts)
        self._file.write(header.tobuf(tarfile.GNU_FORMAT))  # one block whatever the size, unlike the others
        self._file.seek(ends)
        self._file.write(bytes(-header.size % _BLOCK))
        self._sums.append(f"{self._hash.hexdigest()}  {self._name}\n")

    def finish(self) -> None:
        sums = "".join(self._sums).encode()
        self.begin(SUMS)
        self.write(sums)
        self.end()
        self._file.write(bytes(2 * _BLOCK))


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """
    A file for its owner alone that has its name only once it is whole and on disk. What had the name before keeps it.

    Raises:
        BackupFailed: the name is taken, or the disk does not take the file.
    """
    if os.path.lexists(target):
        raise BackupFailed(str(target), "exists already; nothing was written")
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        handle = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _named(partial, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()
    except FileExistsError:
        raise BackupFailed(str(target), "exists already; it was left as it is") from None
    except OSError as error:
        raise BackupFailed(str(target), f"cannot be written: {error.strerror or type(error).__name__}") from error


def _named(partial: Path, target: Path) -> None:
    try:
        os.link(partial, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError from None
        partial.rename(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@attrs.frozen(kw_only=True)
class BackupFile:
    """A backup whose checksums were right when it was opened."""

    path: Path
    manifest: Manifest
    size: int
    _starts: int
    _sum: str

    def dump(self) -> Iterator[bytes]:
        """
        The dump in pieces.

        Raises:
            BackupFailed: it is not what it was when the file was opened.
        """
        seen = hashlib.sha256()
        left = self.size
        with self.path.open("rb") as file:
            file.seek(self._starts)
            while piece := file.read(min(CHUNK, left)):
                seen.update(piece)
                left -= len(piece)
                yield piece
        if seen.hexdigest() != self._sum:
            raise BackupFailed(str(self.path), "changed while it was read")


def open_backup(path: Path) -> BackupFile:
    """
    Read a backup through, and believe it only if every byte is as it was written.

    Raises:
        BackupFailed: it is damaged, or no backup.
    """
    try:
        with path.open("rb") as file:
            return _opened(path, file)
    except tarfile.TarError:
        raise BackupFailed(str(path), "is damaged, or no backup of Chopin") from None
    except ValueError as error:
        raise BackupFailed(str(path), str(error)) from None
    except OSError as error:
        raise BackupFailed(str(path), f"cannot be read: {error.strerror or type(error).__name__}") from error


def _opened(path: Path, file: BinaryIO) -> BackupFile:
    with tarfile.open(fileobj=file, mode="r:") as archive:
        members: dict[str, tarfile.TarInfo] = {}
        sums: dict[str, str] = {}
        for name in (MANIFEST, DUMP, SUMS):
            member = archive.next()
            if member is None and members:
                raise ValueError("is damaged: it ends too early")
            if member is None or member.name != name or not member.isreg():
                raise ValueError("is damaged, or no backup of Chopin")
            members[name] = member
            file.seek(member.offset_data)
            sums[name] = _sum(file, member.size)
        file.seek(members[SUMS].offset_data)
        if file.read(members[SUMS].size).decode("ascii", "replace") != f"{sums[MANIFEST]}  {MANIFEST}\n{sums[DUMP]}  {DUMP}\n":
            raise ValueError("is damaged: its checksums are wrong")
        file.seek(members[MANIFEST].offset_data)
        manifest = decoded(file.read(members[MANIFEST].size))
    dump = members[DUMP]
    return BackupFile(path=path, manifest=manifest, starts=dump.offset_data, size=dump.size, sum=sums[DUMP])


def _sum(file: BinaryIO, size: int) -> str:
    seen = hashlib.sha256()
    while size and (piece := file.read(min(CHUNK, size))):
        seen.update(piece)
        size -= len(piece)
    if size:
        raise ValueError("is damaged: it ends too early")
    return seen.hexdigest()
