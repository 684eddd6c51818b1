"""A file is believed only if it is, byte for byte, what was written."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from chopin_storage_pg.backup.failure import BackupFailed
from chopin_storage_pg.backup.file import DUMP, MANIFEST, SUMS, open_backup
from chopin_storage_pg.testing import ScratchDatabase

from .database import relations, restored


def places(backup: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(backup) as archive:
        return {member.name: member for member in archive}


def flip(backup: Path, at: int) -> None:
    content = bytearray(backup.read_bytes())
    content[at] ^= 1
    backup.write_bytes(content)


def test_any_tar_can_read_it(backup: Path) -> None:
    with tarfile.open(backup) as archive:
        assert archive.getnames() == [MANIFEST, DUMP, SUMS]
        dump = archive.extractfile(DUMP)
        assert dump is not None and dump.read(5) == b"PGDMP"


@pytest.mark.parametrize("name", [MANIFEST, DUMP, SUMS])
@pytest.mark.parametrize("part", ["its header", "its first byte", "its middle", "its last byte"])
async def test_one_flipped_bit_is_enough_to_refuse_it(backup: Path, empty: ScratchDatabase, name: str, part: str) -> None:
    member = places(backup)[name]
    at = {
        "its header": member.offset + 3,
        "its first byte": member.offset_data,
        "its middle": member.offset_data + member.size // 2,
        "its last byte": member.offset_data + member.size - 1,
    }[part]
    flip(backup, at)
    with pytest.raises(BackupFailed, match="is damaged"):
        await restored(empty.url, backup)
    assert await relations(empty.url) == []


async def test_a_file_that_ends_too_early_is_refused_wherever_it_ends(backup: Path, empty: ScratchDatabase) -> None:
    ends = [0, 100, 512, 600]
    for member in places(backup).values():
        ends += [member.offset, member.offset_data, member.offset_data + member.size - 1]
    for end in sorted(ends, reverse=True):
        os.truncate(backup, end)
        with pytest.raises(BackupFailed, match="is damaged"):
            await restored(empty.url, backup)
    assert await relations(empty.url) == []


def test_what_is_no_backup_is_said_to_be_none(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    with tarfile.open(foreign, "w") as archive:
        archive.addfile(tarfile.TarInfo("letters.txt"), io.BytesIO())
    for content in (foreign.read_bytes(), b"PGDMP and so on", b"x" * 5000, bytes(5000)):
        foreign.write_bytes(content)
        with pytest.raises(BackupFailed, match="no backup of Chopin"):
            open_backup(foreign)
    with pytest.raises(BackupFailed, match="cannot be read: No such file"):
        open_backup(tmp_path / "nothing")
    with pytest.raises(BackupFailed, match="cannot be read: Is a directory"):
        open_backup(tmp_path)


def test_a_file_that_changed_since_it_was_opened_is_noticed_at_its_end(backup: Path) -> None:
    opened = open_backup(backup)
    dump = places(backup)[DUMP]
    with backup.open("r+b") as file:
        file.seek(dump.offset_data + dump.size - 1)
        file.write(b"?")
    with pytest.raises(BackupFailed, match="changed while it was read"):
        for _ in opened.dump():
            pass
