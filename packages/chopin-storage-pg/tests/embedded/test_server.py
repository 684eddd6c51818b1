from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from chopin_storage_pg.embedded import postmaster
from chopin_storage_pg.embedded.failure import ServerFailed
from chopin_storage_pg.embedded.server import EmbeddedPostgres

HOLD = """
import sys, time
from pathlib import Path
from chopin_storage_pg.embedded.server import EmbeddedPostgres

server = EmbeddedPostgres.start(Path(sys.argv[1]))
print(server.url, flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def holder(folder: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts another process that starts, or joins, the server of the folder, and stops it at the end of its input."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    """The next line of another process."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def pid(folder: Path) -> int:
    running = postmaster.read(folder / "cluster")
    assert running is not None
    return running.pid


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
        return None if row is None else row[0]


def remember(url: str, number: int) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS remembered (number integer)")
        connection.execute("INSERT INTO remembered VALUES (%s)", (number,))


def remembered(url: str) -> list[int]:
    with psycopg.connect(url) as connection:
        return [number for (number,) in connection.execute("SELECT number FROM remembered ORDER BY 1")]


@pytest.mark.parametrize(
    "name", ["data", "with spaces", "per%cent & 'quotes' \"too\"", "ünï ☃", "back\\slash", "a,b", "l" * 90]
)
def test_what_was_written_is_there_at_the_next_start(tmp_path: Path, name: str) -> None:
    for number in range(2):
        with EmbeddedPostgres.start(tmp_path / name) as server:
            remember(server.url, number)
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url)

    with EmbeddedPostgres.start(tmp_path / name) as server:
        assert remembered(server.url) == [0, 1]


def test_nothing_is_traded_for_speed(folder: Path) -> None:
    with EmbeddedPostgres.start(folder) as server:
        settings = {
            name: value(server.url, f"SHOW {name}")
            for name in ("fsync", "synchronous_commit", "full_page_writes", "data_checksums", "server_encoding", "timezone")
        }
        assert value(server.url, "SELECT lower('ÄΩЖ') || ('a' < 'B')") == "äωжfalse"

    assert settings == {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "server_encoding": "UTF8",
        "timezone": "UTC",
    }


def test_it_listens_where_only_its_owner_comes_in(folder: Path) -> None:
    with EmbeddedPostgres.start(folder) as server:
        assert value(server.url, "SHOW listen_addresses") == ""
        assert (folder / "cluster").stat().st_mode & 0o077 == 0
        assert (folder / "password").stat().st_mode & 0o077 == 0
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url.replace("chopin:", "chopin:wrong"))


@pytest.mark.parametrize("name", ["l" * 90, "a,b"])
def test_where_a_socket_does_not_fit_it_listens_on_loopback_alone_and_asks_for_the_password(tmp_path: Path, name: str) -> None:
    with EmbeddedPostgres.start(tmp_path / name) as server:
        assert "@127.0.0.1:" in server.url
        assert value(server.url, "SHOW listen_addresses") == "127.0.0.1"
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(server.url.replace("chopin:", "chopin:wrong"))


def test_nothing_of_a_statement_reaches_the_log(folder: Path) -> None:
    with EmbeddedPostgres.start(folder) as server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (title text UNIQUE)")
        for _ in range(2):
            try:
                connection.execute("INSERT INTO kept VALUES ('document prose')")
            except psycopg.errors.UniqueViolation:
                break
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT 'document prose' FROM nowhere")

    log = (folder / "server.log").read_text()
    assert "duplicate key" in log
    assert "prose" not in log


def test_the_environment_does_not_lead_it_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGDATA", "PGPORT", "PGUSER", "LC_ALL", "TZ"):
        monkeypatch.setenv(name, "nonsense")
    with EmbeddedPostgres.start(folder) as server:
        monkeypatch.undo()
        assert value(server.url, "SELECT 1") == 1


def test_the_terminals_interrupt_is_not_for_it(folder: Path) -> None:
    with EmbeddedPostgres.start(folder):
        assert os.getpgid(pid(folder)) != os.getpgid(0)


def test_it_never_runs_as_root(folder: Path) -> None:
    with EmbeddedPostgres.start(folder):
        assert Path(f"/proc/{pid(folder)}").stat().st_uid != 0


def test_two_uses_in_one_process_share_it_and_the_last_stops_it(folder: Path) -> None:
    first = EmbeddedPostgres.start(folder)
    second = EmbeddedPostgres.start(folder)
    server = pid(folder)

    assert first.url == second.url
    first.stop()
    assert value(second.url, "SELECT 1") == 1
    second.stop()
    second.stop()
    assert gone(server)


def test_two_processes_share_it_and_the_last_stops_it(folder: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    other = holder()
    url = said(other)
    with EmbeddedPostgres.start(folder) as server:
        assert server.url == url
        other.communicate("")
        assert value(server.url, "SELECT 1") == 1
        running = pid(folder)
    assert gone(running)


def test_processes_that_start_it_at_once_on_an_empty_folder_all_get_it(
    folder: Path, holder: Callable[[], subprocess.Popen[str]]
) -> None:
    processes = [holder() for _ in range(4)]

    urls = {said(process) for process in processes}
    assert len(urls) == 1
    assert value(urls.pop(), "SELECT 1") == 1


def test_a_process_that_is_killed_leaves_it_to_the_next(folder: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    first = holder()
    url = said(first)
    remember(url, 1)
    running = pid(folder)
    first.kill()
    first.communicate()
    assert not gone(running)

    with EmbeddedPostgres.start(folder) as server:
        assert pid(folder) == running
        assert remembered(server.url) == [1]
    assert gone(running)


def test_a_process_that_is_killed_is_not_waited_for_by_those_that_share_it(
    folder: Path, holder: Callable[[], subprocess.Popen[str]]
) -> None:
    first = holder()
    said(first)
    with EmbeddedPostgres.start(folder) as server:
        first.kill()
        first.communicate()
        assert value(server.url, "SELECT 1") == 1
        running = pid(folder)
    assert gone(running)


@pytest.mark.parametrize("stopped", [True, False], ids=["and its owner lets go", "and its owner too"])
def test_a_server_that_is_killed_comes_back_with_all_that_was_committed(
    folder: Path, holder: Callable[[], subprocess.Popen[str]], stopped: bool
) -> None:
    owner = holder()
    url = said(owner)
    for number in range(20):
        remember(url, number)
    os.kill(pid(folder), signal.SIGKILL)
    if not stopped:
        owner.kill()
    owner.communicate()

    with EmbeddedPostgres.start(folder) as server:
        assert remembered(server.url) == list(range(20))
        assert value(server.url, "SELECT pg_is_in_recovery()") is False


def test_a_process_number_left_behind_that_is_another_programs_now_is_seen_through(folder: Path) -> None:
    with EmbeddedPostgres.start(folder) as server:
        remember(server.url, 1)
        left = (folder / "cluster" / "postmaster.pid").read_text()
    other = "\n".join([str(os.getpid()), *left.splitlines()[1:]]) + "\n"
    (folder / "cluster" / "postmaster.pid").write_text(other)

    with EmbeddedPostgres.start(folder) as server:
        assert remembered(server.url) == [1]


@pytest.mark.parametrize("left", ["", "nonsense\n", "999999\n/nowhere\n"])
def test_a_left_over_file_that_cannot_be_read_is_no_obstacle(folder: Path, left: str) -> None:
    with EmbeddedPostgres.start(folder):
        pass
    (folder / "cluster" / "postmaster.pid").write_text(left)

    with EmbeddedPostgres.start(folder) as server:
        assert value(server.url, "SELECT 1") == 1


def test_a_half_made_cluster_is_made_anew(folder: Path) -> None:
    half = folder / "cluster.new-0123"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    with EmbeddedPostgres.start(folder) as server:
        assert value(server.url, "SELECT 1") == 1
    assert not half.exists()


def test_the_cluster_of_another_version_is_left_alone(folder: Path) -> None:
    with EmbeddedPostgres.start(folder):
        pass
    (folder / "cluster" / "PG_VERSION").write_text("17\n")

    with pytest.raises(ServerFailed) as caught:
        EmbeddedPostgres.start(folder)
    assert str(caught.value) == f"the PostgreSQL server in {folder} was made by PostgreSQL 17, and this is 18"


def test_a_server_that_cannot_start_says_why_in_one_line(folder: Path) -> None:
    with EmbeddedPostgres.start(folder):
        pass
    with (folder / "cluster" / "postgresql.conf").open("a") as settings:
        settings.write("shared_buffers = nonsense\n")

    with pytest.raises(ServerFailed) as caught:
        EmbeddedPostgres.start(folder)
    assert "shared_buffers" in caught.value.reason or "configuration file" in caught.value.reason
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_one_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ServerFailed) as caught:
        EmbeddedPostgres.start(tmp_path / "file")
    assert str(caught.value) == f"the PostgreSQL server in {tmp_path / 'file'} cannot be used: File exists"


def test_a_missing_wheel_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(ServerFailed) as caught:
        EmbeddedPostgres.start(folder)
    assert "chopin-storage-pg[embedded]" in caught.value.reason


def test_open_sessions_do_not_keep_it_from_stopping(folder: Path) -> None:
    server = EmbeddedPostgres.start(folder)
    connection = psycopg.connect(server.url)
    connection.execute("SELECT 1")
    running = pid(folder)

    server.stop()

    assert gone(running)
    connection.close()


def test_what_a_killed_process_left_can_be_discarded(folder: Path, holder: Callable[[], subprocess.Popen[str]]) -> None:
    owner = holder()
    said(owner)
    running = pid(folder)
    EmbeddedPostgres.discard(folder)
    assert folder.exists()
    owner.kill()
    owner.communicate()

    EmbeddedPostgres.discard(folder)

    assert gone(running)
    assert not folder.exists()
