"""What a column can keep, and what an index can hold."""

from __future__ import annotations

import attrs
import pytest

from chopin_core.errors import InvalidField
from chopin_core.text import LONGEST_KEY, key, key_field, named_field


@pytest.mark.parametrize("character", ["k", "é", "語", "😀"])
def test_a_key_is_measured_in_bytes(character: str) -> None:
    fits = character * (LONGEST_KEY // len(character.encode()))

    assert key(fits, "id") == fits
    with pytest.raises(InvalidField) as refused:
        key(fits + character, "id")
    assert refused.value.field == "id"


@pytest.mark.parametrize("text", ["a\0b", "a\ud800", "\udc00"])
def test_a_key_is_storable(text: str) -> None:
    with pytest.raises(InvalidField):
        key(text, "id")


def test_an_absent_key_or_name_passes_and_an_empty_name_does_not() -> None:
    @attrs.frozen
    class Thing:
        id: str | None = attrs.field(validator=[named_field, key_field])

    assert Thing(None).id is None
    for value in ("", "k" * (LONGEST_KEY + 1)):
        with pytest.raises(InvalidField) as refused:
            Thing(value)
        assert refused.value.field == "id"
