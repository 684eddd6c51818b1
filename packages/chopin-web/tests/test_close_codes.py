"""The close codes of the two sides are the same list."""

from __future__ import annotations

import re
from pathlib import Path

from chopin_web.close_codes import CloseCode

CLIENT = Path(__file__).parents[1] / "client/src/wire/closeCodes.ts"


def test_the_client_knows_the_same_close_codes_as_the_server() -> None:
    text = CLIENT.read_text(encoding="utf-8")
    there = {int(code) for code in re.findall(r"^\s+[A-Z]\w+: (\d{4})", text, re.MULTILINE)}
    assert there == set(CloseCode)
