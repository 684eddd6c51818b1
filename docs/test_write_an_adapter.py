"""The adapter of the how-to page passes the whole contract where nothing is installed but the core and the suite."""

from __future__ import annotations

import email
import importlib
import os
import re
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from chopin_core.errors import CorruptRecord, StorageUnavailable, UserMissing
from chopin_core.ids import ChannelId, UserId
from chopin_core.people import Person

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs/how-to/write-an-adapter.md"
ADAPTER: Final = ROOT / "docs/how-to/write-an-adapter"
OURS: Final = {"chopin-core": ROOT / "packages/chopin-core", "chopin-contract-tests": ROOT / "contract_tests"}
FOREIGN: Final = [
    "sqlalchemy",
    "psycopg",
    "alembic",
    "hypercorn",
    "starlette",
    "mcp",
    "pycrdt",
    "chopin_storage_pg",
    "chopin_web",
]

NOW: Final = datetime(2026, 1, 5, tzinfo=UTC)
ADA: Final = Person(id=UserId("1"), login="ada")


PROGRAMS: Final = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What a command said in a folder, once it has succeeded; of our environment it sees only the way to programs."""
    known = {"PATH": PROGRAMS, **environment}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=known)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(metadata: str) -> list[Requirement]:
    declared = map(Requirement, email.message_from_string(metadata).get_all("Requires-Dist", []))
    return [one for one in declared if one.marker is None or one.marker.evaluate({"extra": ""})]


def packed(name: str, wheelhouse: Path) -> str:
    """An installed package as the wheel it came from, into the wheelhouse; its metadata."""
    installed = distribution(name)
    metadata, wheel = installed.read_text("METADATA"), installed.read_text("WHEEL")
    assert metadata and wheel and installed.files
    inside = [file for file in installed.files if file.parts[0] != ".." and "__pycache__" not in file.parts]
    record = next(file for file in inside if file.name == "RECORD")
    tags = [tag.split("-") for tag in re.findall(r"^Tag: (.+)$", wheel, re.M)]
    tag = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    with zipfile.ZipFile(wheelhouse / f"{record.parent.name.removesuffix('.dist-info')}-{tag}.whl", "w") as archive:
        for file in inside:
            if file != record:
                archive.write(str(file.locate()), str(file))
        archive.writestr(str(record), "".join(f"{file},,\n" for file in inside))
    return metadata


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    Our two wheels, and all that they say they need, in the versions that are pinned.

    The latter are packed again from where we are installed, so that nothing is fetched and nothing is newer than the lock.
    What a wheel of ours fails to declare is not here.
    """
    folder = tmp_path_factory.mktemp("wheelhouse")
    for source in OURS.values():
        run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, source, folder=folder)
    wanted: list[Requirement] = []
    for built in folder.glob("*.whl"):
        with zipfile.ZipFile(built) as wheel:
            [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
            wanted += needs(wheel.read(metadata).decode())
    found = set(OURS)
    while wanted:
        name = canonicalize_name(wanted.pop().name)
        if name not in found:
            found.add(name)
            wanted += needs(packed(name, folder))
    return folder


@pytest.fixture(scope="module")
def outside(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment of its own, in which our two wheels were installed by name."""
    folder = tmp_path_factory.mktemp("outside")
    offline = ["--no-config", "--offline", "--python"]
    run("uv", "venv", *offline, sys.executable, "venv", folder=folder)
    run("uv", "pip", "install", "--no-cache", "--no-index", "--find-links", wheelhouse, *offline, "venv", *OURS, folder=folder)
    return folder / "venv/bin/python"


@pytest.mark.timeout(300)  # the whole suite, each of its calls with two writes to a disk that others use too
def test_the_adapter_of_the_page_passes_the_whole_contract_in_an_empty_environment(outside: Path, tmp_path: Path) -> None:
    suite = ["--pyargs", "chopin_contract_tests", "--adapter", "onefile:open_adapter"]
    strictly = ["-q", "-W", "error", "-W", "ignore::pytest.PytestDeprecationWarning"]  # that of a loop scope nobody configured
    said = run(outside, "-m", "pytest", *suite, *strictly, folder=tmp_path, PYTHONPATH=str(ADAPTER), TMPDIR=str(tmp_path))

    counted = re.search(r"^one file: (\d+) passed, (\d+) skipped$", said, re.M)
    assert counted, said
    assert int(counted[1]) > 1000
    assert int(counted[2]) == 0
    assert re.fullmatch(rf"{counted[1]} passed in .*", said.splitlines()[-1])


def test_nothing_of_a_database_or_a_server_is_installed_there(outside: Path) -> None:
    program = "import importlib.util, sys; print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name)])"

    assert run(outside, "-c", program, "chopin_core", *FOREIGN, folder=outside.parent).split() == ["chopin_core"]


def test_the_page_shows_the_adapter_as_it_is() -> None:
    shown = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)

    assert lines("".join(shown)) == lines((ADAPTER / "onefile.py").read_text())


def lines(program: str) -> list[str]:
    return [line for line in program.splitlines() if line]


@pytest.fixture
def onefile(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ADAPTER))
    return importlib.import_module("onefile")


async def test_a_read_and_a_refused_write_leave_the_file_alone(onefile: Any, tmp_path: Path) -> None:
    storage = onefile.FileStorage(tmp_path / "chopin")
    await storage.users.put(ADA, now=NOW)
    before = (tmp_path / "chopin").stat()

    await storage.users.get(ADA.id)
    await storage.channels.get(ChannelId("none"))
    with pytest.raises(UserMissing):
        await storage.navigation.set_last_document(UserId("2"), None, now=NOW)

    assert (tmp_path / "chopin").stat().st_ino == before.st_ino


async def test_a_damaged_file_is_refused_and_stays(onefile: Any, tmp_path: Path) -> None:
    path, storage = tmp_path / "chopin", onefile.FileStorage(tmp_path / "chopin")
    await storage.users.put(ADA, now=NOW)
    damaged = path.read_bytes()[:-1]
    path.write_bytes(damaged)

    for call in (storage.health(), storage.users.get(ADA.id), storage.users.put(ADA, now=NOW)):
        with pytest.raises(CorruptRecord):
            await call

    assert path.read_bytes() == damaged


async def test_a_folder_that_is_not_there_is_unavailable(onefile: Any, tmp_path: Path) -> None:
    storage = onefile.FileStorage(tmp_path / "gone" / "chopin")

    for call in (storage.health(), storage.users.put(ADA, now=NOW)):
        with pytest.raises(StorageUnavailable) as caught:
            await call
        assert caught.value.cause == "FileNotFoundError"
