"""Counting what was sent and what came of it, and adding the counts of several attackers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import attrs


def _rows() -> defaultdict[str, Counter[str]]:
    return defaultdict(Counter)


@attrs.define
class Tally:
    """
    ``outcomes`` by kind of input, ``closed`` the codes that offenders were shut out with, ``violations`` what must not be.
    """

    outcomes: defaultdict[str, Counter[str]] = attrs.field(factory=_rows)
    closed: Counter[str] = attrs.field(factory=Counter)
    violations: list[str] = attrs.field(factory=list)

    def count(self, kind: str, outcome: str) -> None:
        self.outcomes[kind][outcome] += 1

    @property
    def sent(self) -> int:
        return sum(counts.total() for counts in self.outcomes.values())

    def add(self, other: Tally) -> None:
        for kind, counts in other.outcomes.items():
            self.outcomes[kind].update(counts)
        self.closed.update(other.closed)
        self.violations.extend(other.violations)


def table(rows: Mapping[str, Counter[str]], columns: Iterable[str] = ()) -> str:
    """A line for each row in the order of their names, and one that adds them up."""
    heads = list(dict.fromkeys((*columns, *sorted({name for counts in rows.values() for name in counts}))))
    total: Counter[str] = Counter()
    for counts in rows.values():
        total.update(counts)
    width = max((len(name) for name in (*rows, "all together")), default=0)
    sizes = [max(len(head), 6) for head in heads]

    def line(name: str, cells: Iterable[object]) -> str:
        return f"{name:<{width}}  " + "  ".join(f"{cell!s:>{size}}" for cell, size in zip(cells, sizes, strict=True))

    body = [line(name, [rows[name][head] or "" for head in heads]) for name in sorted(rows)]
    return "\n".join([line("", heads), *body, line("all together", [total[head] for head in heads])])
