"""What a run has seen, as a table; and what it keeps when something was not as promised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from rich.table import Table

from .audit import Violation, by_kind
from .history import History, Update

OUT = Path(__file__).parents[1] / "out"


@attrs.frozen(kw_only=True)
class Evidence:
    history: Sequence[Mapping[str, Any]]
    rows: Mapping[str, Sequence[str]]
    texts: Mapping[str, str]
    """What each writer sees."""
    log: str
    """The end of what the server said."""


class Violated(Exception):
    """The promise was not kept."""

    def __init__(self, violations: Sequence[Violation], evidence: Evidence) -> None:
        self.violations = tuple(violations)
        self.evidence = evidence
        super().__init__("; ".join(f"{violation.kind}: {violation.detail}"[:300] for violation in violations[:5]))

    def kept(self, name: str) -> Path:
        """Write the evidence down; where."""
        OUT.mkdir(exist_ok=True)
        path = OUT / f"{name}.json"
        path.write_text(json.dumps({"violations": by_kind(self.violations), **attrs.asdict(self.evidence)}, indent=1))
        return path


@attrs.define(eq=False)
class Tally:
    rounds: Counter[str] = attrs.field(factory=Counter)
    documents: int = 0
    audits: int = 0
    longest_recovery: float = 0.0
    violations: tuple[Violation, ...] = ()
    _histories: list[History] = attrs.field(factory=list)
    _generations: set[str] = attrs.field(factory=set)

    def seen(self, history: History, generations: Sequence[str]) -> None:
        """Count an audit."""
        self.audits += 1
        self._generations.update(generations)
        if history not in self._histories:
            self._histories.append(history)

    def recovered(self, seconds: float) -> None:
        self.longest_recovery = max(self.longest_recovery, seconds)

    @property
    def acknowledged(self) -> int:
        return self.count(lambda update: update.acknowledged is not None)

    def count(self, condition: Callable[[Update], bool]) -> int:
        return sum(condition(update) for history in self._histories for update in history.updates.values())

    def table(self) -> Table:
        counted = Counter(violation.kind for violation in self.violations)
        table = Table(show_header=False)
        table.add_column()
        table.add_column(justify="right")
        for kind, rounds in self.rounds.items():
            table.add_row(f"rounds: {kind}", f"{rounds}")
        table.add_section()
        table.add_row("updates sent", f"{self.count(lambda update: True)}")
        table.add_row("unacknowledged when something ended", f"{self.count(lambda update: update.in_flight)}")
        table.add_row("of them stored all the same", f"{self.count(lambda update: update.unheard)}")
        table.add_row("updates acknowledged", f"{self.acknowledged}")
        for kind in ("lost", "duplicated", "half"):
            table.add_row(kind, f"{counted.pop(kind, 0)}")
        for kind, times in counted.items():
            table.add_row(kind, f"{times}")
        table.add_section()
        table.add_row("documents", f"{self.documents}")
        table.add_row("checkpoints seen", f"{len(self._generations)}")
        table.add_row("audits of the database", f"{self.audits}")
        table.add_row("longest recovery", f"{self.longest_recovery:.1f} s")
        return table
