"""Who is told what after a batch became durable; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from chopin_core.counters import DocumentSequence, Epoch
from chopin_core.room.batch import Decision
from chopin_core.room.events import Acknowledged, Updated
from chopin_core.room.member import Member


def acknowledgements(decision: Decision, epoch: Epoch, sequence: DocumentSequence) -> Iterator[tuple[Member, Acknowledged]]:
    """One for each update that is durable now, whether it brought something new or not; all at the same sequence."""
    for submission in (*(item.submission for item in decision.accepted), *decision.known):
        yield (
            submission.member,
            Acknowledged(epoch=epoch, id=submission.id, sequence=sequence, tag=submission.tag),
        )


def relays(
    decision: Decision, epoch: Epoch, sequence: DocumentSequence, opened: Iterable[Member]
) -> Iterator[tuple[Member, Updated]]:
    """What each member lacks: the whole batch in one piece, or the others' parts for one who wrote some of it."""
    if not decision.update:
        return
    senders = {item.submission.member for item in decision.accepted}
    handles = {sender.view.handle for sender in senders}
    sender = handles.pop() if len(handles) == 1 else None
    whole = Updated(epoch=epoch, update=decision.update, sequence=sequence, sender=sender)
    for member in opened:
        if member not in senders:
            yield member, whole
            continue
        for item in decision.accepted:
            author = item.submission.member
            if author is not member:
                yield member, attrs.evolve(whole, update=item.update, sender=author.view.handle)
