"""A shared text that many edit at once (a CRDT): what the core asks of a library that provides one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from chopin_core.document.splice import Splice

ROOT = "source"
"""The name of the one shared text in a document; browsers bind to it."""


@attrs.frozen(kw_only=True)
class Applied:
    """
    What an update changed: ``update`` holds just what was new (empty when nothing was), ``splices`` lead from the text
    before to the text after, each in the coordinates left by the ones before it. ``clients`` are the Yjs client ids under
    which something new was typed.
    """

    update: bytes
    splices: tuple[Splice, ...]
    clients: frozenset[int]


class SharedText(Protocol):
    """
    One replica of a document. Bound to the thread that uses it; knows nothing of sockets or storage.

    After ``UpdateMalformed`` a replica may be damaged in ways that cannot be seen: unless it is :attr:`intact`, throw it away
    and load another.
    """

    @property
    def intact(self) -> bool:
        """Whether nothing but what was taken in whole can have touched it."""
        ...

    @property
    def text(self) -> str:
        """The whole text as it is now."""
        ...

    def apply(self, update: bytes) -> Applied:
        """
        Take in an update made elsewhere. Taking in what is known already changes nothing.

        Raises:
            UpdateMalformed: the bytes cannot be read, or (``incomplete``) something they build on is missing, or they
                touch anything but the text :data:`ROOT`, or they cut a character in two, or tell of a known character
                something else.
        """
        ...

    def splice(self, splices: Sequence[Splice]) -> bytes:
        """
        Edit the text here, in one transaction, and answer the update that does the same elsewhere (empty for no edit).

        Raises:
            InvalidField: a range lies outside the text, or an insert holds an unpaired surrogate; nothing was changed.
        """
        ...

    def state_vector(self) -> bytes:
        """What this replica has seen, in Yjs encoding."""
        ...

    def diff(self, vector: bytes) -> bytes:
        """
        The update that a replica with this state vector lacks.

        Raises:
            UpdateMalformed: the vector cannot be read.
        """
        ...

    def update(self) -> bytes:
        """The whole document as one update."""
        ...


class DocumentEngine(Protocol):
    """Makes replicas. Bytes are Yjs updates, version 1, whichever library stands behind."""

    def new(self) -> SharedText:
        """An empty document with a client id of its own."""
        ...

    def load(self, updates: Sequence[bytes]) -> SharedText:
        """
        A document from updates in order, linear in their number.

        Raises:
            UpdateMalformed: one of them cannot be read, or they do not make a whole.
        """
        ...

    def read(self, document: bytes) -> str:
        """
        The text that somebody gets who loads a whole document afresh. Quick, so only for bytes from ``SharedText.update``.

        Raises:
            UpdateMalformed: the library cannot load what it wrote itself.
        """
        ...

    def merge(self, updates: Sequence[bytes]) -> bytes:
        """
        One update that does what all of them do.

        Raises:
            UpdateMalformed: one of them cannot be read.
        """
        ...


class PositionEngine(Protocol):
    """Positions that stay with their neighbours while the text changes, in Yjs' encoding of relative positions."""

    def mint(self, replica: SharedText, index: int, *, before: bool = False) -> bytes:
        """
        A position at a string index. It sticks to the character behind it, or with ``before`` to the one before it.

        Raises:
            InvalidField: the index lies outside the text.
        """
        ...

    def resolve(self, replica: SharedText, position: bytes) -> int | None:
        """
        The string index where the position is now, or None when this document does not know it.

        Raises:
            UpdateMalformed: the bytes are no position.
        """
        ...
