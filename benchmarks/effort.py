"""How often everything is measured: enough for steady medians, or just once around to see that it works."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen(kw_only=True)
class Effort:
    """
    ``runs`` is how many times the things to compare take turns, ``commits`` how many each writes at its turn on one channel,
    ``pages`` how often a page is asked for, ``keystrokes`` how many are typed over a socket, ``cycles`` how often a room is
    opened, changed and put away.
    """

    runs: int
    commits: int
    pages: int
    keystrokes: int
    rooms: int
    cycles: int


FULL: Final = Effort(runs=15, commits=150, pages=40, keystrokes=600, rooms=200, cycles=10_000)
QUICK: Final = Effort(runs=3, commits=20, pages=5, keystrokes=30, rooms=20, cycles=200)
