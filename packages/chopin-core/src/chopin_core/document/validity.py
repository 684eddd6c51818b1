"""What the text of an open document may be: the check between an edit and its journal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chopin_core.document.protected import protected_blocks
from chopin_core.document.splice import Splice
from chopin_core.errors import UpdateRefused

LARGEST_SOURCE: Final = 256 * 1024
"""In bytes of UTF-8."""

CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Everything Unicode calls a control character, but the newline and the tab. Editors send line ends as newlines."""


def check_text(text: str) -> None:
    """
    Whether a whole text may be a document.

    Raises:
        UpdateRefused: ``control-character`` or ``source-too-large``.
    """
    if CONTROL.search(text):
        raise UpdateRefused("control-character")
    if _too_large(text):
        raise UpdateRefused("source-too-large")


def check_change(before: str, splices: Sequence[Splice], after: str) -> None:
    """
    Whether people may change one text into the other; ``before`` was valid. Costs what was typed, not what is there.

    Raises:
        UpdateRefused: ``control-character``, ``source-too-large`` or ``protected-projection``.
    """
    if any(CONTROL.search(splice.insert) for splice in splices):
        raise UpdateRefused("control-character")
    if _too_large(after):
        raise UpdateRefused("source-too-large")
    if protected_blocks(before) != protected_blocks(after):
        raise UpdateRefused("protected-projection")


def _too_large(text: str) -> bool:
    if text.isascii() or 4 * len(text) <= LARGEST_SOURCE:
        return len(text) > LARGEST_SOURCE
    return len(text.encode("utf-8", "surrogatepass")) > LARGEST_SOURCE
