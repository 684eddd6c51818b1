"""Deciding what becomes of the updates that arrived together; pure but for the shadow it decides on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from chopin_core.document.splice import Splice
from chopin_core.errors import Invalid, UpdateMalformed, UpdateRefused
from chopin_core.ports.documents import DocumentEngine, SharedText
from chopin_core.room.authorship import Authorship
from chopin_core.room.member import Member

Check = Callable[[str, Sequence[Splice], str], None]
"""Raises ``UpdateRefused`` when the text after some splices is no valid document (architecture §4, "Valid batch")."""


@attrs.frozen(kw_only=True)
class Submission:
    """
    An update as a member sent it; ``tag`` goes back with the acknowledgement.

    ``opening`` is filled in by the room: the member's opening of the document that the update comes from.
    """

    member: Member
    id: str
    update: bytes
    tag: str | None = None
    opening: int = 0


@attrs.frozen(kw_only=True)
class Accepted:
    """A submission and just what was new in it."""

    submission: Submission
    update: bytes


@attrs.frozen(kw_only=True)
class Refused:
    submission: Submission
    reason: str


@attrs.frozen(kw_only=True)
class Decision:
    """
    What is to become durable. ``accepted`` brought something new; ``known`` only what the document has already, or gets
    from an accepted one. ``update`` does all that is new at once and is empty when nothing is.
    """

    accepted: tuple[Accepted, ...]
    known: tuple[Submission, ...]
    refused: tuple[Refused, ...]
    update: bytes
    text_changed: bool


class Shadow:
    """
    A second replica that meets every update before it is durable.

    A malformed update can damage a replica while it is refused (architecture §4). Here that costs a shadow, which is made
    again from the live document, and nobody but the sender notices. Once its update is durable the two change places: the
    shadow is the live document, and what was live follows when everybody has been told.
    """

    def __init__(self, engine: DocumentEngine, live: SharedText, check: Check, authorship: Authorship) -> None:
        self._engine = engine
        self._check = check
        self._authorship = authorship
        self._replica = engine.load([live.update()])

    @property
    def text(self) -> str:
        return self._replica.text

    def decide(self, live: SharedText, submissions: Sequence[Submission]) -> Decision:
        """
        Try the updates one after the other, each on what the ones before it led to. After a member's first refusal the
        rest of what it sent is passed over: it builds on what was refused.

        The shadow must be level with ``live``; afterwards it is ahead of it by ``Decision.update``, until :meth:`exchanged`.
        """
        accepted: list[Accepted] = []
        known: list[Submission] = []
        refused: list[Refused] = []
        offenders: set[Member] = set()
        before = self._replica.text
        for submission in submissions:
            if submission.member in offenders:
                continue
            text = self._replica.text
            try:
                applied = self._replica.apply(submission.update)
                self._authorship.refuse_foreign(submission.member, applied.clients)
                if applied.splices:
                    self._check(text, applied.splices, self._replica.text)
            except Invalid as error:
                offenders.add(submission.member)
                refused.append(Refused(submission=submission, reason=reason_of(error)))
                if not self._replica.intact or isinstance(error, UpdateRefused):
                    self._replica = self._engine.load([live.update(), *(item.update for item in accepted)])
                continue
            if applied.update:
                self._authorship.typed(submission.member, applied.clients)
                accepted.append(Accepted(submission=submission, update=applied.update))
            else:
                known.append(submission)
        return Decision(
            accepted=tuple(accepted),
            known=tuple(known),
            refused=tuple(refused),
            update=self._merged([item.update for item in accepted]),
            text_changed=self._replica.text != before,
        )

    def edit(self, live: SharedText, splices: Sequence[Splice]) -> bytes:
        """
        Edit the text as the server's own doing; the update that does it.

        Raises:
            UpdateRefused: the outcome is no valid document; the shadow is as before.
        """
        before = self._replica.text
        update = self._replica.splice(splices)
        try:
            self._check(before, splices, self._replica.text)
        except Invalid:
            self.level_with(live)
            raise
        return update

    def exchanged(self, live: SharedText) -> SharedText:
        """The replica that is ahead, for the live one, which has to catch up before the next decision."""
        ahead, self._replica = self._replica, live
        return ahead

    def catch_up(self, update: bytes) -> None:
        """
        Bring the replica level with the one that it was exchanged for.

        Raises:
            UpdateMalformed: it does not take what the other one took.
        """
        self._replica.apply(update)

    def level_with(self, live: SharedText) -> None:
        """Start over from the live document."""
        self._replica = self._engine.load([live.update()])

    def _merged(self, parts: Sequence[bytes]) -> bytes:
        match len(parts):
            case 0:
                return b""
            case 1:
                return parts[0]
            case _:
                return self._engine.merge(parts)


def reason_of(error: Invalid) -> str:
    """A code for the log and the sender; never text from a document."""
    match error:
        case UpdateRefused(reason=reason):
            return reason
        case UpdateMalformed(incomplete=True):
            return "incomplete"
        case UpdateMalformed():
            return "malformed"
        case _:
            return "invalid"
