"""The short form of ``python -m proofs.leaks``: nothing is left of a few hundred rooms."""

from __future__ import annotations

from .leaks.cycles import measure


async def test_nothing_is_left_of_rooms_that_were_opened_refused_or_failed() -> None:
    growth = await measure(cycles=300, refused=300, failed=100)
    assert not growth.left
