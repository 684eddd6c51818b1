"""What an open document may become."""

from __future__ import annotations

import pytest

from chopin_core.document.splice import Splice, spliced
from chopin_core.document.validity import LARGEST_SOURCE, check_change, check_text
from chopin_core.errors import UpdateRefused

from .sources import DECISION, RESEARCH


def reason(text: str) -> str | None:
    try:
        check_text(text)
    except UpdateRefused as refused:
        return refused.reason
    return None


def reason_for(before: str, *splices: Splice) -> str | None:
    try:
        check_change(before, splices, spliced(before, splices))
    except UpdateRefused as refused:
        return refused.reason
    return None


@pytest.mark.parametrize("character", ["\0", "\x08", "\x0b", "\x0c", "\r", "\x1b", "\x7f", "\x80", "\x85", "\x9f"])
def test_control_characters_are_refused(character: str) -> None:
    assert reason(f"a{character}b") == "control-character"
    assert reason_for("ab", Splice(1, 1, character)) == "control-character"


@pytest.mark.parametrize(
    "text", ["", "tab\tand\nnewline", "\u2028\u2029\u200b\ufeff\u00a0", "😀中é", "{anything} <goes> `here"]
)
def test_anything_else_is_a_document(text: str) -> None:
    assert reason(text) is None
    assert reason_for("", Splice(0, 0, text)) is None


@pytest.mark.parametrize("unit", ["x", "é", "中", "😀"])
def test_a_document_may_be_as_large_as_the_limit_in_bytes_and_no_larger(unit: str) -> None:
    most = unit * (LARGEST_SOURCE // len(unit.encode()))
    room = LARGEST_SOURCE - len(most.encode())
    assert reason(most + "x" * room) is None
    assert reason(most + "x" * (room + 1)) == "source-too-large"
    assert reason_for(most + "x" * room, Splice(0, 0, "x")) == "source-too-large"
    assert reason_for(most + "x" * room, Splice(0, 1, "x")) is None


def test_records_may_move_but_not_change() -> None:
    before = f"# Title\n\n{DECISION}\n\ntext\n\n{RESEARCH}\n"
    moved = (Splice(9, 9 + len(DECISION), ""), Splice(0, 0, DECISION + "\n"))
    assert reason_for(before, *moved) is None
    assert reason_for(before, Splice(0, 0, "words\n\n")) is None
    assert reason_for(before, Splice(0, 0, "```\n")) == "protected-projection"
    assert reason_for(before, Splice(9, 9, "x")) == "protected-projection"
    assert reason_for(before, Splice(9, 9 + len(DECISION), "")) == "protected-projection"
    assert reason_for(before, Splice(0, 0, RESEARCH + "\n")) == "protected-projection"
    assert reason_for("", Splice(0, 0, DECISION)) == "protected-projection"
