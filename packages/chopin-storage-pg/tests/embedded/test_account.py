from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import chopin_core
import chopin_storage_pg
from chopin_storage_pg.embedded import account, postmaster
from chopin_storage_pg.embedded.account import Account, account_for, invocation
from chopin_storage_pg.embedded.failure import ServerFailed
from chopin_storage_pg.embedded.server import EmbeddedPostgres

START = """
import os, sys
from pathlib import Path
from chopin_storage_pg.embedded.server import EmbeddedPostgres

with EmbeddedPostgres.start(Path(sys.argv[1])):
    print(os.geteuid(), (Path(sys.argv[1]) / "cluster").stat().st_uid)
"""

SOMEBODY = Account(uid=12_345, gid=12_345)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account may enter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path


def ordinary() -> Account | None:
    """Somebody who is not root: None if we are not."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(uid=nobody.pw_uid, gid=nobody.pw_gid)


def test_an_ordinary_person_needs_no_rights_at_all(open_folder: Path) -> None:
    person = ordinary()
    data = open_folder / "data"
    data.mkdir()
    if person is not None:
        person.owns(data)
    places = [Path(module.__file__ or "") for module in (chopin_core, chopin_storage_pg, pytest)]
    call = invocation(
        [sys.executable, "-c", START, str(data)], account=person, needs=[Path(sys.executable), data, *places], directory=data
    )

    done = subprocess.run(call.command, capture_output=True, text=True, check=False, **call.identity)

    uid = os.geteuid() if person is None else person.uid
    assert (done.stdout.split(), done.stderr) == ([str(uid), str(uid)], "")


def test_closed_folders_above_the_data_stay_closed(open_folder: Path) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    before = closed.stat()

    for _ in range(2):
        with EmbeddedPostgres.start(closed / "deeper" / "data"):
            running = postmaster.read(closed / "deeper" / "data" / "cluster")
            assert running is not None
            assert Path(f"/proc/{running.pid}").stat().st_uid == (closed / "deeper" / "data" / "cluster").stat().st_uid

    after = closed.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert stat.S_IMODE(after.st_mode) == 0o700


def test_where_every_folder_is_open_no_capability_is_asked_for(open_folder: Path) -> None:
    call = invocation(["program"], account=SOMEBODY, needs=[open_folder / "program"], directory=open_folder)

    assert list(call.command) == ["program"]
    assert call.identity == {"user": SOMEBODY.uid, "group": SOMEBODY.gid, "extra_groups": ()}


def test_a_folder_that_cannot_be_passed_is_named(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(shutil, "which", lambda name: None)

    with pytest.raises(ServerFailed) as caught:
        invocation(["program"], account=SOMEBODY, needs=[closed / "program"], directory=open_folder)
    assert str(closed) in caught.value.reason


@pytest.mark.parametrize(
    ("mode", "uid", "gid", "enters"),
    [
        (0o755, 0, 0, True),
        (0o711, 0, 0, True),
        (0o750, 0, 0, False),
        (0o750, 0, 12_345, True),
        (0o705, 0, 12_345, False),
        (0o700, 12_345, 0, True),
        (0o055, 12_345, 0, False),
    ],
)
def test_who_may_enter_is_read_from_the_permissions(
    monkeypatch: pytest.MonkeyPatch, mode: int, uid: int, gid: int, enters: bool
) -> None:
    status = os.stat_result((stat.S_IFDIR | mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))
    monkeypatch.setattr(Path, "stat", lambda path: status)

    assert SOMEBODY.enters(Path("/any")) is enters


def test_a_new_cluster_as_root_goes_to_an_account_that_exists(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(account, "ACCOUNTS", ("no such account", "nobody"))

    nobody = pwd.getpwnam("nobody")
    assert account_for(open_folder, open_folder / "cluster") == Account(uid=nobody.pw_uid, gid=nobody.pw_gid)


def test_root_keeps_to_the_account_that_has_the_cluster(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = os.stat_result((stat.S_IFDIR | 0o700, 0, 0, 1, 777, 778, 0, 0, 0, 0))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "stat", lambda path, **_: status)

    assert account_for(open_folder, open_folder / "cluster") == Account(uid=777, gid=778)


def test_root_without_any_other_account_is_refused(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(account, "ACCOUNTS", ("no such account",))

    with pytest.raises(ServerFailed) as caught:
        account_for(open_folder, open_folder / "cluster")
    assert "cannot run as root" in caught.value.reason


def test_somebody_elses_cluster_is_refused(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (open_folder / "cluster").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)

    with pytest.raises(ServerFailed) as caught:
        account_for(open_folder, open_folder / "cluster")
    assert caught.value.reason == "belongs to another account"
