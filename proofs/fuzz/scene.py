"""A document as a hostile client sees it: what it holds, how it came about, and honest edits of it to spoil."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random

import attrs
from pycrdt import Doc, Text, TransactionEvent

from chopin_core.engines.wire import Update, read_update
from chopin_core.ports.documents import ROOT

PIECES = ("word ", "\n", "# Title\n", "- item\n", "é", "中文", "😀", "👩\u200d👧", "<Callout>\n", "`code`", "x")

DECISION = '<Decision id="01ARZ3NDEKTSV4RRFFQ69G5FAV" quote="Ship it" by="ana" at="2026-11-30T10:00:00Z">\n</Decision>'

Edit = Callable[[Text], None]


@attrs.frozen(kw_only=True)
class Scene:
    """``updates`` led to ``whole``, in their order."""

    whole: bytes
    updates: Sequence[bytes]
    text: str

    @cached_property
    def read(self) -> Update:
        """What ``whole`` says."""
        return read_update(self.whole)

    def edited(self, client: int, edit: Edit) -> bytes:
        """The update of a client that knows the whole document; empty when the edit does nothing."""
        document: Doc[Text] = Doc(client_id=client)
        text = document.get(ROOT, type=Text)
        document.apply_update(self.whole)
        return produced(document, lambda: edit(text))

    def typed(self, random: Random, text: str | None = None, client: int | None = None) -> bytes:
        """An honest insertion somewhere, by a client that nobody has met yet unless one is named."""
        piece = random.choice(PIECES) if text is None else text
        at = random.randrange(len(self.text) + 1)
        return self.edited(client or random.randrange(1, 2**32), lambda shared: shared.insert(octets(self.text, at), piece))

    def removed(self, random: Random, client: int | None = None) -> bytes:
        """An honest deletion of a few characters."""
        start = random.randrange(len(self.text) or 1)
        first, last = octets(self.text, start), octets(self.text, min(len(self.text), start + random.randrange(1, 6)))

        def delete(shared: Text) -> None:
            if last > first:
                del shared[first:last]

        return self.edited(client or random.randrange(1, 2**32), delete)


def octets(text: str, index: int) -> int:
    return len(text[:index].encode())


def produced(document: Doc[Text], change: Callable[[], None]) -> bytes:
    """The update that a change of a document sends out."""
    updates: list[bytes] = []

    def note(event: TransactionEvent) -> None:
        updates.append(event.update)

    observing = document.observe(note)
    try:
        with document.transaction():
            change()
    finally:
        document.unobserve(observing)
    return updates[0] if updates else b""


def written_together(random: Random, edits: int = 40) -> Scene:
    """A document that three clients wrote, one of them with the largest id that Yjs gives out; the same for the same seed."""
    documents: list[Doc[Text]] = [Doc(client_id=client) for client in (77, 1_001_002, 2**32 - 1)]
    texts = [document.get(ROOT, type=Text) for document in documents]
    updates = []
    for number in range(edits):
        author = number % len(documents)
        before = str(texts[author])
        start = random.randrange(len(before) + 1)
        first, last = octets(before, start), octets(before, min(len(before), start + random.choice((0, 0, 0, 2))))

        def edit(
            shared: Text = texts[author], first: int = first, last: int = last, piece: str = random.choice(PIECES)
        ) -> None:
            if last > first:
                del shared[first:last]
            shared.insert(first, piece)

        update = produced(documents[author], edit)
        updates.append(update)
        for other in documents:
            if other is not documents[author]:
                other.apply_update(update)
    return Scene(whole=documents[0].get_update(), updates=tuple(updates), text=str(texts[0]))


def with_a_decision(random: Random) -> Scene:
    """The same with a block in it that only the server may change."""
    plain = written_together(random)
    block = plain.edited(4_004, lambda shared: shared.insert(octets(plain.text, len(plain.text)), f"\n\n{DECISION}\n\n"))
    document: Doc[Text] = Doc(client_id=5)
    text = document.get(ROOT, type=Text)
    for update in (*plain.updates, block):
        document.apply_update(update)
    return Scene(whole=document.get_update(), updates=(*plain.updates, block), text=str(text))
