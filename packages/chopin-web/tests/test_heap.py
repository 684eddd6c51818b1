"""Memory that was used once does not stay with the process."""

from __future__ import annotations

import re
from pathlib import Path

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_web.heap import trimming


def resident() -> int:
    """Kibibytes."""
    found = re.search(r"^VmRSS:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def typed(words: int) -> bytes:
    replica = PycrdtEngine().new()
    for _ in range(words):
        replica.splice([Splice(0, 0, "word ")])
    return replica.update()


def test_what_documents_took_is_given_back_when_they_are_put_away() -> None:
    trim = trimming()
    assert trim is not None, "this system's C library has nothing to give back; the test is for glibc"
    update = typed(2_000)
    trim(0)
    before = resident()
    open_documents, kept = [], []
    for _ in range(60):
        open_documents.append(PycrdtEngine().load([update]))
        kept.append(bytearray(2_000))  # what outlives them lies between them
    taken = resident() - before
    assert taken > 10_000
    open_documents.clear()
    trim(0)
    assert resident() - before < taken / 4
