"""The bytes themselves: what is read from them is what was written, and what is refused costs no more than its length."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.engines.encoding import write_position, write_update, write_vector
from chopin_core.engines.wire import (
    LARGEST_CLIENT,
    LARGEST_CLOCK,
    Id,
    Position,
    Run,
    Update,
    read_position,
    read_update,
    read_vector,
)
from chopin_core.errors import UpdateMalformed

from .editing import texts

clients = st.integers(0, LARGEST_CLIENT)
clocks = st.integers(0, LARGEST_CLOCK // 2)

neighbours = st.none() | st.builds(Id, st.integers(2**53 - 9, LARGEST_CLIENT), clocks)


@st.composite
def runs(draw: st.DrawFn) -> list[Run]:
    made: list[Run] = []
    clock = draw(st.integers(0, 1000))
    for _ in range(draw(st.integers(1, 4))):
        clock += draw(st.sampled_from((0, 0, 5)))
        text = draw(st.none() | texts.filter(bool))
        length = draw(st.integers(1, 50)) if text is None else len(text.encode("utf-16-le")) // 2
        made.append(Run(clock, length, draw(neighbours), draw(neighbours), text))
        clock += length
    return made


@given(
    runs=st.dictionaries(st.integers(0, 2**53 - 10), runs(), max_size=3),
    deleted=st.dictionaries(clients, st.lists(st.tuples(clocks, st.integers(1, 99)), min_size=1, max_size=3), max_size=3),
)
def test_what_is_written_is_read(runs: dict[int, list[Run]], deleted: dict[int, list[tuple[int, int]]]) -> None:
    update = Update(runs, {client: [(start, start + length) for start, length in found] for client, found in deleted.items()})
    assert read_update(write_update(update)) == update


@given(vector=st.dictionaries(clients, clocks, max_size=5))
def test_state_vectors_are_read_as_written(vector: dict[int, int]) -> None:
    assert read_vector(write_vector(vector.items())) == vector


@given(position=st.builds(Position, st.none() | st.builds(Id, clients, clocks), st.booleans()))
def test_positions_are_read_as_written(position: Position) -> None:
    assert read_position(write_position(position)) == position


def test_a_position_of_an_older_yjs_has_no_side_and_sticks_to_what_follows() -> None:
    assert read_position(b"\x00\x07\x03") == Position(Id(7, 3), before=False)


def test_positions_elsewhere_are_known_as_such() -> None:
    assert read_position(b"\x01\x05other\x00") is None
    assert read_position(b"\x02\x07\x03\x00") is None


@pytest.mark.parametrize("position", [b"", b"\x00", b"\x03", b"\x00\x07\x03\x00\x00", b"\x01\x06sourc", b"\x00\x07\x03\xff"])
def test_bytes_that_are_no_position_are_refused(position: bytes) -> None:
    with pytest.raises(UpdateMalformed):
        read_position(position)


ROOT = b"\x04\x01\x06source"

REFUSED = {
    "more clients than bytes": b"\xff\xff\xff\xff\x0f" + bytes(10),
    "more runs than bytes": b"\x01\xff\xff\xff\xff\x0f\x07\x00" + ROOT + b"\x01a\x00",
    "more deletions than bytes": b"\x00\x01\x07\xff\xff\xff\xff\x0f\x00\x01",
    "a text longer than the bytes": b"\x01\x01\x07\x00" + ROOT + b"\xff\xff\x03a\x00",
    "a number without end": b"\x01\x01" + b"\xff" * 20,
    "a client beyond what browsers can count": b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\x7f\x00" + ROOT + b"\x01a\x00",
    "a clock beyond what libraries can count": b"\x01\x01\x07\xff\xff\xff\xff\x0f" + ROOT + b"\x01a\x00",
    "a length beyond what libraries can count": b"\x01\x01\x07\x01\x01\x01\x06source\xff\xff\xff\xff\x07\x00",
    "a client twice": b"\x02\x01\x07\x00" + ROOT + b"\x01a\x01\x07\x01" + ROOT + b"\x01b\x00",
    "an empty text": b"\x01\x01\x07\x00" + ROOT + b"\x00\x00",
    "an empty deletion": b"\x00\x01\x07\x01\x00\x00",
    "raw surrogates": b"\x01\x01\x07\x00" + ROOT + b"\x03\xed\xa0\x80\x00",
    "bytes that are no text": b"\x01\x01\x07\x00" + ROOT + b"\x01\xff\x00",
    "a character typed beside a later one": b"\x01\x01\x07\x00\x84\x07\x05\x01a\x00",
    "another root": b"\x01\x01\x07\x00\x04\x01\x05other\x01a\x00",
    "a nested type": b"\x01\x01\x07\x00\x04\x00\x07\x00\x01a\x00",
    "a map entry": b"\x01\x01\x07\x00\x24\x01\x06source\x01k\x01a\x00",
    "a collected range": b"\x01\x01\x07\x00\x00\x05\x00",
    "a JSON value": b"\x01\x01\x07\x00\x02\x01\x06source\x01\x011\x00",
    "a binary value": b"\x01\x01\x07\x00\x03\x01\x06source\x01a\x00",
    "an embedded value": b"\x01\x01\x07\x00\x05\x01\x06source\x02{}\x00",
    "a format": b"\x01\x01\x07\x00\x06\x01\x06source\x01b\x04true\x00",
    "a type": b"\x01\x01\x07\x00\x07\x01\x06source\x01\x00",
    "any value": b"\x01\x01\x07\x00\x08\x01\x06source\x01\x78\x00",
    "a document": b"\x01\x01\x07\x00\x09\x01\x06source\x01g\x76\x00\x00",
    "a byte too many": b"\x00\x00\x00",
    "a byte too few": b"\x01\x01\x07\x00" + ROOT + b"\x01a",
}


@pytest.mark.parametrize("update", REFUSED.values(), ids=REFUSED.keys())
def test_nothing_but_plain_characters_of_the_root_text_is_read(update: bytes) -> None:
    with pytest.raises(UpdateMalformed) as refused:
        read_update(update)
    assert not refused.value.incomplete


def test_the_smallest_text_is_read() -> None:
    """What the refused ones are variations of."""
    assert read_update(b"\x01\x01\x07\x00" + ROOT + b"\x01a\x00") == Update({7: [Run(0, 1, None, None, "a")]}, {})


def test_a_skipped_range_is_a_gap() -> None:
    update = read_update(b"\x01\x02\x07\x00\x0a\x05\x84\x07\x04\x01a\x00")
    assert update.runs == {7: [Run(5, 1, Id(7, 4), None, "a")]}


def test_ten_thousand_bombs_are_refused_in_no_time() -> None:
    # Each makes a library reserve 130 MB; a bound so wide only fails if one is read that way.
    started = time.process_time()
    for _ in range(10_000):
        with pytest.raises(UpdateMalformed):
            read_update(REFUSED["more clients than bytes"])
    assert time.process_time() - started < 30
