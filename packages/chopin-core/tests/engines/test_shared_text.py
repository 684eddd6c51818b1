"""The contract of a replica: what it takes in, what it gives out, and what it refuses."""

from __future__ import annotations

import pytest

from chopin_core.document.splice import Splice, spliced
from chopin_core.engines.wire import read_vector
from chopin_core.errors import InvalidField, UpdateMalformed
from chopin_core.ports.documents import DocumentEngine, SharedText

from .editing import copy, written


def test_a_new_document_is_empty_and_loads_as_such(engine: DocumentEngine) -> None:
    replica = engine.new()
    assert replica.text == ""
    assert copy(engine, replica).text == ""
    assert engine.load([]).text == ""


def test_an_edit_here_is_the_same_edit_there(engine: DocumentEngine) -> None:
    here = written(engine, "a😀中b")
    there = copy(engine, here)
    applied = there.apply(here.splice([Splice(1, 2, "X"), Splice(4, 4, "!")]))
    assert here.text == there.text == "aX中b!"
    assert spliced("a😀中b", applied.splices) == "aX中b!"


def test_what_was_applied_does_the_same_once_more_elsewhere(engine: DocumentEngine) -> None:
    here = written(engine, "one two")
    there, third = copy(engine, here), copy(engine, here)
    here.splice([Splice(0, 3, "ONE")])
    applied = there.apply(here.update())
    third.apply(applied.update)
    assert third.text == "ONE two"


def test_what_is_known_already_changes_nothing(engine: DocumentEngine) -> None:
    here = written(engine, "text")
    update = here.splice([Splice(4, 4, "!"), Splice(0, 1, "T")])
    there = copy(engine, here)
    applied = there.apply(update)
    assert (applied.update, applied.splices) == (b"", ())
    assert there.text == "Text!"


def test_only_what_is_new_in_an_update_is_passed_on(engine: DocumentEngine) -> None:
    here = written(engine, "x" * 1000)
    there = copy(engine, here)
    here.splice([Splice(500, 500, "new")])
    applied = there.apply(here.update())
    assert len(applied.update) < 100
    assert applied.splices == (Splice(500, 500, "new"),)


def test_an_edit_that_does_nothing_is_no_update(engine: DocumentEngine) -> None:
    replica = written(engine, "text")
    assert replica.splice([]) == b""
    assert replica.splice([Splice(2, 2, "")]) == b""
    assert replica.text == "text"


def test_a_replacement_is_told_as_one_splice(engine: DocumentEngine) -> None:
    here = written(engine, "the quick fox")
    there = copy(engine, here)
    assert there.apply(here.splice([Splice(4, 9, "slow")])).splices == (Splice(4, 9, "slow"),)


def test_text_that_comes_and_goes_in_one_update_is_no_splice(engine: DocumentEngine) -> None:
    here = written(engine, "ab")
    there = copy(engine, here)
    applied = there.apply(here.splice([Splice(1, 1, "😀"), Splice(1, 2, "")]))
    assert applied.splices == ()
    assert applied.update != b""
    assert read_vector(there.state_vector()) == read_vector(here.state_vector())


@pytest.mark.parametrize("splice", [Splice(-1, 0, ""), Splice(0, 5, ""), Splice(3, 2, ""), Splice(5, 5, "x")])
def test_a_range_outside_the_text_is_refused_before_anything_changes(engine: DocumentEngine, splice: Splice) -> None:
    replica = written(engine, "a😀中b")
    before = replica.update()
    with pytest.raises(InvalidField):
        replica.splice([Splice(0, 0, "first"), Splice(0, 5, ""), splice])
    assert (replica.text, replica.update()) == ("a😀中b", before)


def test_half_a_character_cannot_be_inserted(engine: DocumentEngine) -> None:
    replica = written(engine, "text")
    with pytest.raises(InvalidField):
        replica.splice([Splice(0, 0, "ok"), Splice(0, 0, "x\ud800y")])
    assert replica.text == "text"


def test_a_difference_is_what_the_other_lacks(engine: DocumentEngine) -> None:
    here = written(engine, "first")
    there = copy(engine, here)
    vector = there.state_vector()
    here.splice([Splice(5, 5, " second")])
    difference = here.diff(vector)
    assert len(difference) < len(here.update())
    there.apply(difference)
    assert there.text == "first second"


def test_who_knows_more_than_we_do_is_told_what_they_lack(engine: DocumentEngine) -> None:
    here = written(engine, "shared")
    there = copy(engine, here)
    there.splice([Splice(0, 0, "theirs ")])
    here.splice([Splice(6, 6, " ours")])
    there.apply(here.diff(there.state_vector()))
    assert there.text == "theirs shared ours"


@pytest.mark.parametrize(
    "vector", [b"", b"\x01", b"\xff\xff\xff\xff\x0f", b"\x00\x00", b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f"]
)
def test_bytes_that_are_no_state_vector_are_refused(engine: DocumentEngine, vector: bytes) -> None:
    with pytest.raises(UpdateMalformed):
        written(engine, "text").diff(vector)


@pytest.mark.parametrize("update", [b"", b"\x00", b"nonsense", b"\x00\x00\x00", b"\xff\xff\xff\xff\x0f\x00"])
def test_bytes_that_are_no_update_are_refused(engine: DocumentEngine, update: bytes) -> None:
    for refuse in (written(engine, "text").apply, lambda update: engine.load([update]), lambda update: engine.merge([update])):
        with pytest.raises(UpdateMalformed) as refused:
            refuse(update)
        assert not refused.value.incomplete


def chain(engine: DocumentEngine) -> list[bytes]:
    """Four updates, each of which builds on the one before."""
    replica = engine.new()
    return [replica.splice([Splice(at, at, letter)]) for at, letter in enumerate("abcd")]


def test_an_update_whose_past_is_missing_is_refused_and_taken_once_it_is_there(engine: DocumentEngine) -> None:
    first, second, third, fourth = chain(engine)
    replica = engine.new()
    with pytest.raises(UpdateMalformed) as refused:
        replica.apply(third)
    assert refused.value.incomplete
    replica = engine.load([first, second])
    for update in (third, fourth):
        replica.apply(update)
    assert replica.text == "abcd"


def test_a_deletion_of_what_was_never_seen_is_refused(engine: DocumentEngine) -> None:
    here = written(engine, "abc")
    deletion = here.splice([Splice(1, 2, "")])
    with pytest.raises(UpdateMalformed) as refused:
        engine.new().apply(deletion)
    assert refused.value.incomplete


def test_updates_that_make_no_whole_do_not_load(engine: DocumentEngine) -> None:
    first, second, third, fourth = chain(engine)
    for gap in ([second], [first, third], [first, second, fourth]):
        with pytest.raises(UpdateMalformed) as refused:
            engine.load(gap)
        assert refused.value.incomplete


def test_updates_load_in_any_order_and_more_than_once(engine: DocumentEngine) -> None:
    first, second, third, fourth = chain(engine)
    assert engine.load([fourth, second, third, first, second]).text == "abcd"


def test_a_loaded_document_goes_on_under_a_client_of_its_own(engine: DocumentEngine) -> None:
    here = written(engine, "shared ")
    one, two = copy(engine, here), copy(engine, here)
    changes = [replica.splice([Splice(7, 7, word)]) for replica, word in ((one, "one"), (two, "two"))]
    one.apply(changes[1])
    two.apply(changes[0])
    assert one.text == two.text
    assert sorted(one.text) == sorted("shared onetwo")


def test_every_part_of_a_document_survives_a_round_trip(engine: DocumentEngine) -> None:
    replica: SharedText = written(engine, "# 中文\n\n😀 text\n")
    replica.splice([Splice(2, 4, "English"), Splice(0, 0, "\n")])
    loaded = copy(engine, replica)
    assert loaded.text == replica.text
    assert read_vector(loaded.state_vector()) == read_vector(replica.state_vector())
    assert loaded.diff(replica.state_vector()) in (b"\x00\x00", loaded.diff(loaded.state_vector()))
