"""Memory that was used once does not stay with the process."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import re
from pathlib import Path

from pycrdt import Doc, Text

from chopin_web.heap import trimming

def resident():
    return int(re.search(r"^VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)[1])

written = Doc()
text = written.get("source", type=Text)
for _ in range(2_000):
    text.insert(0, "word ")
update = written.get_update()
trim = trimming()
trim(0)
before = resident()
documents, kept = [], []
for _ in range(60):
    document = Doc()
    document.apply_update(update)
    documents.append(document)
    kept.append(bytearray(2_000))  # what outlives them lies between them
taken = resident() - before
documents.clear()
del document
kept_back = resident() - before
trim(0)
print(taken, kept_back, resident() - before)
"""


def test_what_documents_took_is_given_back_when_they_are_put_away() -> None:
    """In a process of its own, for in that of the tests there are holes that others left; in kibibytes."""
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    taken, without, given_back = map(int, said.split())
    assert taken > 10_000
    assert without > taken / 2, "this C library keeps nothing, and needs nobody to ask for it"
    assert given_back < taken / 4
