"""The ``plan:*`` frames: the document itself (protocol spec §4)."""

from __future__ import annotations

from chopin_core.document.dialect.tree import DEEPEST
from chopin_core.document.validity import LARGEST_SOURCE
from chopin_core.room.events import Acknowledged, CursorsMoved, Reset, Updated
from chopin_core.room.limits import LARGEST_UPDATE
from chopin_core.room.room import Opening
from chopin_web.frames.envelope import compose, encoded, shared

LIMITS = {"source": LARGEST_SOURCE, "update": LARGEST_UPDATE, "depth": DEEPEST}


def opened(opening: Opening, rid: str | None) -> str:
    return compose(
        "plan:open",
        rid=rid,
        epoch=opening.epoch,
        seq=opening.sequence,
        update=encoded(opening.update),
        awareness=encoded(opening.cursors) if opening.cursors else None,
        revision=opening.revision,
        anchors=[],
        threads=[],
        limits=LIMITS,
    )


def acknowledged(event: Acknowledged) -> str:
    return compose("plan:ack", rid=event.tag, epoch=event.epoch, id=event.id, seq=event.sequence)


@shared
def updated(event: Updated) -> str:
    return compose(
        "plan:update",
        epoch=event.epoch,
        update=encoded(event.update),
        seq=event.sequence,
        sender=event.sender,
        agent=True if event.agent else None,
    )


@shared
def cursors_moved(event: CursorsMoved) -> str:
    return compose("plan:awareness", epoch=event.epoch, update=encoded(event.update), sender=event.sender)


def reset(event: Reset) -> str:
    return compose("plan:reset", epoch=event.epoch, reason=event.reason.value)
