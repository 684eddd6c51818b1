"""The benchmarks run, and what they write has the shape that programs read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import attrs
import pytest

from benchmarks import commits, rooms, sidecars
from benchmarks.effort import QUICK
from benchmarks.machine import Machine, look
from benchmarks.report import line, table, write_json
from benchmarks.row import Row, at_least, at_most, paired
from chopin_storage_pg.testing import ScratchServer, open_server

ONCE = attrs.evolve(QUICK, runs=1, commits=8, keystrokes=10)
FIELDS = {"name", "value", "unit", "ratio", "bar", "ok"}
MET = Row(name="fast", value=1234.56, unit="commits/s", ratio=0.9, bar=at_least(0.8))
MISSED = Row(name="slow", value=0.12345, unit="ms", ratio=1.31, bar=at_most(1.3))
REPORTED = Row(name="size", value=69.8, unit="KiB")


@pytest.fixture(scope="module")
def server() -> Iterator[ScratchServer]:
    with open_server() as server:
        yield server


async def test_the_cheap_groups_answer_rows_of_which_each_has_its_own_name(server: ScratchServer, tmp_path: Path) -> None:
    machine = look(server)
    rows = [row for group in (commits, sidecars, rooms) for row in [row async for row in group.rows(server, ONCE)]]

    assert machine.fsyncs is None or machine.fsyncs > 0
    assert len({row.name for row in rows}) == len(rows)
    assert all(row.value > 0 for row in rows)
    assert [row.bar for row in rows if row.bar].count(at_least(0.80)) == 4
    write_json(rows, tmp_path / "out" / "latest.json")
    read = json.loads((tmp_path / "out" / "latest.json").read_text())
    assert [set(row) for row in read] == [FIELDS] * len(rows)


def test_a_row_is_met_missed_or_only_reported() -> None:
    assert [row.ok for row in (MET, MISSED, REPORTED)] == [True, False, None]
    assert MISSED.json() == {"name": "slow", "value": 0.1235, "unit": "ms", "ratio": 1.31, "bar": 1.3, "ok": False}
    assert REPORTED.json() == {"name": "size", "value": 69.8, "unit": "KiB", "ratio": None, "bar": None, "ok": None}


def test_a_ratio_without_a_bar_is_no_row() -> None:
    with pytest.raises(AssertionError):
        Row(name="half", value=1.0, unit="ms", ratio=1.0)


def test_a_machine_that_slows_down_meanwhile_does_not_move_the_ratio() -> None:
    assert paired([100.0, 50.0, 10.0], [200.0, 100.0, 20.0]) == 0.5


def test_a_missed_bar_shows_on_the_terminal_and_in_the_table() -> None:
    machine = Machine(
        started_at=datetime(2026, 1, 5, 9, 30, tzinfo=UTC),
        commit="abc",
        kind="Linux, 2 cores",
        python="3.11",
        postgres="18.6",
        fsyncs=None,
        load=0.5,
    )

    written = table([MET, MISSED, REPORTED], machine)

    assert line(MISSED).endswith("MISSED")
    assert written.startswith("## 2026-01-05\n")
    assert "| slow | 0.123 ms | 1.31 | ≤ 1.30 | MISSED |" in written
    assert "| size | 69.8 KiB | | | |" in written
