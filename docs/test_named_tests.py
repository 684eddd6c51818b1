"""The tests that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`(test_\w+\.py)::(test_\w+)`")


def test_every_test_that_a_page_names_exists() -> None:
    written = {
        (file.name, name)
        for part in ("packages", "contract_tests", "proofs", "e2e")
        for file in (ROOT / part).rglob("test_*.py")
        if "node_modules" not in file.parts
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    named = {found for page in (ROOT / "docs").rglob("*.md") for found in NAMED.findall(page.read_text())}
    assert len(named) > 20
    assert named <= written, sorted(named - written)
