"""What the writers sent and what they were told: kept before the deed, and the only thing that an audit believes."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import attrs


@attrs.define(eq=False, kw_only=True)
class Update:
    """One change: the markers that it puts into the text, and those of earlier updates of its writer that it takes out."""

    id: str
    writer: str
    document: str
    markers: tuple[str, ...]
    removed: tuple[str, ...] = ()
    sent: float
    acknowledged: float | None = None
    sequence: int | None = None
    """Of the document, as the acknowledgement said."""
    in_flight: bool = False
    """Was not acknowledged when the server or its database ended."""
    unheard: bool = False
    """Was stored then all the same."""


@attrs.define(eq=False)
class History:
    """Times are seconds since it began."""

    updates: dict[str, Update] = attrs.field(factory=dict)
    """By id, in the order in which they were sent."""
    complaints: list[str] = attrs.field(factory=list)
    """What a writer was told that it should not have been."""
    _sequences: dict[tuple[str, str], int] = attrs.field(factory=lambda: defaultdict(int))
    _began: float = attrs.field(factory=time.monotonic)

    def now(self) -> float:
        return time.monotonic() - self._began

    def sending(self, id: str, *, writer: str, document: str, markers: Sequence[str], removed: Sequence[str] = ()) -> Update:
        """Note an update that is about to be sent."""
        update = Update(
            id=id, writer=writer, document=document, markers=tuple(markers), removed=tuple(removed), sent=self.now()
        )
        self.updates[id] = update
        return update

    def told(self, id: str, sequence: int) -> None:
        """Note an acknowledgement. A document's sequence never goes back for one who writes in it."""
        update = self.updates[id]
        who = update.writer, update.document
        if sequence < self._sequences[who]:
            self.complaints.append(f"{update.writer} heard of sequence {sequence} after {self._sequences[who]}")
        self._sequences[who] = max(self._sequences[who], sequence)
        if update.acknowledged is None:
            update.acknowledged, update.sequence = self.now(), sequence

    def of(self, document: str) -> list[Update]:
        return [update for update in self.updates.values() if update.document == document]

    def evidence(self) -> list[dict[str, Any]]:
        return [attrs.asdict(update) for update in self.updates.values()]
