"""
What is typed, the same for every system: a text of 32 KiB, and words that tell who wrote them and as the how manieth.

A word is one edit, a Yjs update of its own. Its letters stand in that update as they are, also after a server joined it with
others, so a receiver needs no replica to know what has reached it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs
from pycrdt import Doc, Text, TransactionEvent

ROOT: Final = "source"
"""The name of the shared text, as Chopin has it; the others do not mind."""

SIZE: Final = 32 * 1024
_LINE: Final = "Some *ordinary* prose with `code` and a [link](https://example.com/x), as people write it.\n\n"
TEXT: Final = (_LINE * (SIZE // len(_LINE) + 1))[:SIZE]
_WORD: Final = re.compile(rb"w(\d{2})x(\d{5}) ")
_LENGTH: Final = len("w00x00000 ")


@attrs.frozen(order=True)
class Word:
    writer: int
    number: int

    def __str__(self) -> str:
        return f"w{self.writer:02}x{self.number:05} "


def words(update: bytes) -> list[Word]:
    """The words whose letters an update brings."""
    return [Word(int(writer), int(number)) for writer, number in _WORD.findall(update)]


def unused(state: bytes) -> int:
    """A number from which on no word is in a document yet."""
    return max((word.number for word in words(state)), default=-1) + 1


def seed() -> bytes:
    """The document before anybody types."""
    doc = Doc[Text](client_id=1)
    doc[ROOT] = Text(TEXT)
    return doc.get_update()


def written(state: bytes) -> Counter[Word]:
    """How often each word stands in a document."""
    doc = Doc[Text]()
    doc.apply_update(state)
    return Counter(words(str(doc.get(ROOT, type=Text)).encode()))


def typed(state: bytes, writer: int, place: float, count: int) -> Sequence[tuple[Word, bytes]]:
    """
    What somebody with this document types from some place on (0 is the start of the text, 1 its end): each word, and the
    update that adds it. Made beforehand, so that making them costs no time while it is measured.
    """
    doc = Doc[Text]()
    doc.apply_update(state)
    text: Text = doc.get(ROOT, type=Text)
    at = _place(str(text), place)
    updates: list[bytes] = []

    def made(event: TransactionEvent) -> None:
        updates.append(event.update)

    subscription = doc.observe(made)
    first = unused(state)
    some = [Word(writer, first + number) for number in range(count)]
    for word in some:
        text.insert(at, str(word))
        at += _LENGTH
    doc.unobserve(subscription)  # an observer that stays keeps its document in memory
    return list(zip(some, updates, strict=True))


def _place(text: str, place: float) -> int:
    """An index that stands in no word of ours. The text is ASCII, where bytes and letters count the same."""
    at = int(len(text) * place)
    around = max(0, at - _LENGTH)
    for word in _WORD.finditer(text[around : at + _LENGTH].encode()):
        if around + word.start() < at < around + word.end():
            return around + word.end()
    return at
