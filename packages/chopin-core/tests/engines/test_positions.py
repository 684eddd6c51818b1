"""Positions stay with their neighbours. Only pycrdt has them."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.splice import Splice
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.ypy import YpyEngine
from chopin_core.errors import InvalidField, UpdateMalformed

from .editing import catch_up, copy, edits, texts, written


@given(data=st.data())
def test_a_position_is_found_where_it_was_minted(pycrdt: PycrdtEngine, data: st.DataObject) -> None:
    replica = written(pycrdt, data.draw(texts))
    other = copy(pycrdt, replica)
    for _ in range(2):
        replica.splice(data.draw(edits(replica.text)))
        catch_up(other, replica)
        for index in range(len(replica.text) + 1):
            for before in (False, True):
                position = pycrdt.mint(replica, index, before=before)
                assert pycrdt.resolve(replica, position) == index
                assert pycrdt.resolve(other, position) == index


@given(data=st.data())
def test_a_position_follows_the_character_it_sticks_to(pycrdt: PycrdtEngine, data: st.DataObject) -> None:
    left, right = data.draw(texts), data.draw(texts)
    replica = written(pycrdt, left + "⚓" + right)
    behind = pycrdt.mint(replica, len(left))
    before = pycrdt.mint(replica, len(left) + 1, before=True)
    replica.splice([Splice(len(left) + 1, len(left) + 1, data.draw(texts)), Splice(len(left), len(left), data.draw(texts))])
    assert pycrdt.resolve(replica, behind) == replica.text.index("⚓")
    assert pycrdt.resolve(replica, before) == replica.text.index("⚓") + 1


@given(data=st.data())
def test_positions_stay_with_their_characters_whatever_is_edited_around_them(
    pycrdt: PycrdtEngine, data: st.DataObject
) -> None:  # cases.md 66
    replica = written(pycrdt, data.draw(texts))
    other = copy(pycrdt, replica)
    # The model: each character with a name of its own, so that it is known where it went.
    names = count()
    characters = [next(names) for _ in replica.text]
    positions = [
        (name, before, pycrdt.mint(replica, index + before, before=before))
        for index, name in enumerate(characters)
        for before in (False, True)
    ]
    for _ in range(3):
        made = data.draw(edits(replica.text, most=2))
        replica.splice(made)
        for splice in made:
            characters[splice.start : splice.end] = [next(names) for _ in splice.insert]
    catch_up(other, replica)
    assert len(characters) == len(replica.text) == len(other.text)
    for name, before, position in positions:
        if name in characters:
            assert pycrdt.resolve(replica, position) == pycrdt.resolve(other, position) == characters.index(name) + before


def test_the_side_decides_who_is_followed_when_somebody_types_at_the_place(pycrdt: PycrdtEngine) -> None:
    replica = written(pycrdt, "é|中")
    after, before = pycrdt.mint(replica, 1), pycrdt.mint(replica, 1, before=True)
    replica.splice([Splice(1, 1, "😀typed")])
    assert pycrdt.resolve(replica, after) == 7
    assert pycrdt.resolve(replica, before) == 1


def test_the_ends_stay_the_ends(pycrdt: PycrdtEngine) -> None:
    replica = written(pycrdt, "middle")
    start, end = pycrdt.mint(replica, 0, before=True), pycrdt.mint(replica, 6)
    replica.splice([Splice(0, 0, "😀"), Splice(7, 7, "中")])
    assert (pycrdt.resolve(replica, start), pycrdt.resolve(replica, end)) == (0, 8)


def test_a_position_whose_neighbour_is_deleted_stays_at_the_gap(pycrdt: PycrdtEngine) -> None:
    replica = written(pycrdt, "one 😀 two")
    position = pycrdt.mint(replica, 4)
    replica.splice([Splice(4, 5, "")])
    assert pycrdt.resolve(replica, position) == 4
    replica.splice([Splice(0, 4, "")])
    assert pycrdt.resolve(replica, position) == 0


def test_a_position_keeps_through_a_restart(pycrdt: PycrdtEngine) -> None:
    replica = written(pycrdt, "before 中 after")
    position = pycrdt.mint(replica, 9)
    replica.splice([Splice(0, 7, "")])
    assert pycrdt.resolve(copy(pycrdt, replica), position) == 2


def test_a_position_in_another_document_is_nowhere(pycrdt: PycrdtEngine) -> None:
    position = pycrdt.mint(written(pycrdt, "another document"), 7)
    assert pycrdt.resolve(written(pycrdt, "this one"), position) is None
    assert pycrdt.resolve(written(pycrdt, "this one"), b"\x01\x05other\x00") is None


@pytest.mark.parametrize("index", [-1, 3])
def test_there_is_no_position_outside_the_text(pycrdt: PycrdtEngine, index: int) -> None:
    with pytest.raises(InvalidField):
        pycrdt.mint(written(pycrdt, "ab"), index)


def test_bytes_that_are_no_position_are_refused(pycrdt: PycrdtEngine) -> None:
    with pytest.raises(UpdateMalformed):
        pycrdt.resolve(written(pycrdt, "ab"), b"\x09nonsense")


def test_a_position_inside_a_character_is_before_it(pycrdt: PycrdtEngine) -> None:
    replica = written(pycrdt, "a😀b")
    first = pycrdt.mint(replica, 1)
    inside = first[:-2] + bytes([first[-2] + 1]) + first[-1:]
    assert pycrdt.resolve(replica, inside) == 1


def test_replicas_of_another_engine_are_told_apart(pycrdt: PycrdtEngine) -> None:
    with pytest.raises(TypeError):
        pycrdt.mint(YpyEngine().new(), 0)
