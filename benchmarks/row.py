"""One line of the report: what was measured, and how it stands to its bar if it has one."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Final, Literal

import attrs


@attrs.frozen
class Bar:
    """What a ratio must reach, or must not exceed."""

    limit: float
    side: Literal["≥", "≤"]

    def met(self, ratio: float) -> bool:
        return ratio >= self.limit if self.side == "≥" else ratio <= self.limit

    def __str__(self) -> str:
        return f"{self.side} {self.limit:.2f}"


def at_least(limit: float) -> Bar:
    return Bar(limit, "≥")


def at_most(limit: float) -> Bar:
    return Bar(limit, "≤")


@attrs.frozen(kw_only=True)
class Row:
    """A ratio without a bar does not exist: a figure that is only reported has neither."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    bar: Bar | None = None

    def __attrs_post_init__(self) -> None:
        assert (self.ratio is None) is (self.bar is None), f"{self.name} has a ratio or a bar without the other"

    @property
    def ok(self) -> bool | None:
        return None if self.ratio is None or self.bar is None else self.bar.met(self.ratio)

    def json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "ratio": None if self.ratio is None else _rounded(self.ratio),
            "bar": None if self.bar is None else self.bar.limit,
            "ok": self.ok,
        }


def paired(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """
    The median of the ratios of neighbouring runs: a machine that grows slower meanwhile slows both halves of a pair, while a
    ratio of medians would compare runs of different minutes.
    """
    return median(one / other for one, other in zip(ours, theirs, strict=True))


_DIGITS: Final = 4


def _rounded(value: float) -> float:
    """To four significant digits: the rest is noise."""
    return float(f"{value:.{_DIGITS}g}")
