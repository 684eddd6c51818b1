"""The rows for three readers: a terminal, a program, and a page of the docs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.machine import Machine
from benchmarks.row import Row

LATEST: Final = Path(__file__).parent / "out" / "latest.json"
_VERDICTS: Final = {True: "met", False: "MISSED", None: ""}


def line(row: Row) -> str:
    ratio = f"{row.ratio:8.2f} {row.bar!s:>8} {_VERDICTS[row.ok]}" if row.ratio is not None else ""
    return f"{row.name:76} {figure(row.value):>10} {row.unit:10}{ratio}".rstrip()


def figure(value: float) -> str:
    """As many digits as mean anything."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write_json(rows: Sequence[Row], path: Path = LATEST) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([row.json() for row in rows], indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def table(rows: Sequence[Row], machine: Machine) -> str:
    """A section for ``docs/reference/benchmarks.md``, under the date of the run."""
    facts = [f"- {name}: {value}" for name, value in machine.lines().items()]
    head = ["| what | value | ratio | bar | |", "| --- | ---: | ---: | ---: | --- |"]
    body = [
        f"| {row.name} | {figure(row.value)} {row.unit} "
        + (f"| {row.ratio:.2f} | {row.bar} | {_VERDICTS[row.ok]} |" if row.ratio is not None else "| | | |")
        for row in rows
    ]
    return "\n".join([f"## {machine.started_at:%Y-%m-%d}", "", *facts, "", *head, *body, ""])
