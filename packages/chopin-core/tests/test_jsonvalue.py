"""Stored JSON gives back what it was made from, or is refused."""

from __future__ import annotations

import json
import math
from collections import deque
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.errors import CorruptRecord, InvalidField
from chopin_core.jsonvalue import Json, decode, encode

# No category is left out: NUL, controls and unpaired surrogates are text here.
texts = st.text(st.characters())
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)


def joined(value: Any) -> Any:
    """The value with surrogate halves that stand in order joined: JSON, like UTF-16, cannot tell them from the character."""
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        case list():
            return [joined(inner) for inner in value]
        case dict():
            return {joined(key): joined(inner) for key, inner in value.items()}
        case _:
            return value


@given(values)
def test_a_value_comes_back_in_value_type_and_order(value: Json) -> None:
    back = decode(encode(value), "here")

    assert repr(back) == repr(joined(value))


@given(values)
def test_the_text_is_ascii_on_one_line_without_spaces_between(value: Json) -> None:
    text = encode(value)

    assert text.isascii()
    assert text.isprintable()
    assert text == json.dumps(json.loads(text), separators=(",", ":"))


@given(st.lists(scalars, max_size=4))
def test_a_tuple_is_kept_as_a_list(items: list[Json]) -> None:
    assert encode(tuple(items)) == encode(items)


@pytest.mark.parametrize("text", ["\0", "\ud800", "\udc00", "\udc00\ud800", "a\ud800b"])
def test_what_no_column_keeps_is_kept_as_escapes(text: str) -> None:
    assert decode(encode({text: text}), "here") == {text: text}


def test_halves_in_order_come_back_as_the_character_they_mean() -> None:
    assert decode(encode("\ud83d\ude00"), "here") == "😀"


NOT_JSON: list[Any] = [math.nan, math.inf, -math.inf, [math.nan], {"a": [math.inf]}, b"bytes", {1, 2}, object(), {(1,): 1}]


@pytest.mark.parametrize("value", NOT_JSON, ids=repr)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidField) as caught:
        encode(value)

    assert caught.value.field == "json"


def test_a_value_too_deep_to_write_is_refused() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]

    with pytest.raises(InvalidField):
        encode(value)


@pytest.mark.parametrize("text", ["", "{", "nul", "NaN", "[Infinity]", '{"a":-Infinity}', "1 2", "'a'", "[" * 100_000])
def test_a_stored_text_that_is_no_json_is_corrupt_and_says_where(text: str) -> None:
    with pytest.raises(CorruptRecord) as caught:
        decode(text, "section graph")

    assert caught.value.where == "section graph"
    assert "is not JSON" in str(caught.value)


def test_read_only_mappings_and_other_sequences_are_json_too() -> None:
    value = MappingProxyType({"a": (1, MappingProxyType({"b": deque([2])}))})
    assert decode(encode({"outer": value}), "here") == {"outer": {"a": [1, {"b": [2]}]}}


@pytest.mark.parametrize("value", [b"bytes", bytearray(b"x"), {1, 2}, object()], ids=lambda value: type(value).__name__)
def test_bytes_and_other_objects_are_not(value: Any) -> None:
    with pytest.raises(InvalidField):
        encode({"inner": value})


@pytest.mark.parametrize("text", ["1e999", "-1e999", '{"a":[1e400]}'])
def test_a_number_beyond_all_floats_is_corrupt_and_no_infinity(text: str) -> None:
    with pytest.raises(CorruptRecord):
        decode(text, "here")
