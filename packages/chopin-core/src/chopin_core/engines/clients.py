"""Client ids as browsers choose them: random, of 32 bits."""

from __future__ import annotations

import secrets
from collections.abc import Container


def fresh_client(taken: Container[int]) -> int:
    """
    An id that nobody used in this document.

    Yjs takes 32 bits, pycrdt would take 53, and y-py cuts those off, which sorts what was typed at one place another way.
    """
    while (client := secrets.randbits(32)) in taken:
        pass
    return client
