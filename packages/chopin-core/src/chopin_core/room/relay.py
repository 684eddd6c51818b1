"""Who is told what after a batch became durable; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    decision: Decision, epoch: Epoch, sequence: DocumentSequence, opened: Mapping[Member, int]
) -> Iterator[tuple[Member, Updated]]:
    """
    The batch for everybody who does not have it all.

    Who wrote a part of it gets the whole as well: what a replica has it passes over, and parts put together for each author
    cost as many frames as the batch has edits, for each. Only its sole author needs nothing, unless they opened the document
    anew meanwhile: the copy they have now lacks it.
    """
    if not decision.update:
        return
    handles = {item.submission.member.view.handle for item in decision.accepted}
    sender = handles.pop() if len(handles) == 1 else None
    whole = Updated(epoch=epoch, update=decision.update, sequence=sequence, sender=sender)
    authors = {(item.submission.member, item.submission.opening) for item in decision.accepted}
    for member, opening in opened.items():
        if authors != {(member, opening)}:
            yield member, whole
