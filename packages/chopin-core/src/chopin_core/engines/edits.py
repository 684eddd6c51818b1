"""Splices that a caller wants made here, checked as a whole before the library is asked to make the first."""

from __future__ import annotations

from collections.abc import Sequence

from chopin_core.document.splice import Splice, spliced
from chopin_core.errors import InvalidField


def checked(text: str, splices: Sequence[Splice]) -> str:
    """
    The text after the splices.

    Raises:
        InvalidField: a range lies outside the text as it is by then, or an insert cannot be stored.
    """
    length = len(text)
    for splice in splices:
        if not 0 <= splice.start <= splice.end <= length:
            raise InvalidField("splice", "lies outside the text")
        try:
            splice.insert.encode()
        except UnicodeEncodeError as error:
            raise InvalidField("splice", "inserts an unpaired surrogate") from error
        length += len(splice.insert) - (splice.end - splice.start)
    return spliced(text, splices)
