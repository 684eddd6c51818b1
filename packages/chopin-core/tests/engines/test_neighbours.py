"""Which characters can lie side by side, and what becomes of an update that says they do when they cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.splice import Splice
from chopin_core.engines.encoding import write_update
from chopin_core.engines.neighbours import Neighbours
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import Id, Run, Update
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import SharedText

A, B, C = 1, 2, 3


def wrote(client: int, *runs: Run) -> Update:
    return Update({client: list(runs)}, {})


def known(*updates: Update) -> Neighbours:
    neighbours = Neighbours()
    for update in updates:
        neighbours.add(update)
    return neighbours


HELLO = wrote(A, Run(0, 5, None, None, "hello"))


@pytest.mark.parametrize(
    ("left", "right"),
    [(None, Id(A, 0)), (Id(A, 0), Id(A, 1)), (Id(A, 3), Id(A, 4)), (Id(A, 4), None), (None, None)],
    ids=["before all", "inside", "before the last", "behind all", "in an empty text"],
)
def test_side_by_side(left: Id | None, right: Id | None) -> None:
    assert known(HELLO).seams(wrote(B, Run(0, 1, left, right, "x"))) == []


@pytest.mark.parametrize(("left", "right"), [(Id(A, 0), Id(A, 2)), (Id(A, 1), Id(A, 0))], ids=["around one", "crossed"])
def test_not_side_by_side(left: Id, right: Id) -> None:
    [seam] = known(HELLO).seams(wrote(B, Run(0, 1, left, right, "x")))
    assert (seam.left, seam.right) == (left, right)


def test_at_the_start_before_what_was_typed_behind_another_is_refused() -> None:
    with pytest.raises(UpdateMalformed):
        known(HELLO).seams(wrote(B, Run(0, 1, None, Id(A, 1), "x")))


def test_at_the_end_behind_what_was_typed_before_another_is_refused() -> None:
    between = wrote(B, Run(0, 1, Id(A, 1), Id(A, 2), "x"))
    with pytest.raises(UpdateMalformed):
        known(HELLO, between).seams(wrote(C, Run(0, 1, Id(B, 0), None, "y")))


def test_what_was_put_between_two_lies_beside_both() -> None:
    between = wrote(B, Run(0, 2, Id(A, 1), Id(A, 2), "xy"))
    there = known(HELLO, between)
    assert there.seams(wrote(C, Run(0, 1, Id(A, 1), Id(B, 0), "z"))) == []
    assert there.seams(wrote(C, Run(0, 1, Id(B, 1), Id(A, 2), "z"))) == []
    assert len(there.seams(wrote(C, Run(0, 1, Id(A, 0), Id(A, 2), "z")))) == 1


def test_characters_of_one_update_lie_beside_each_other() -> None:
    update = Update({A: [Run(0, 5, None, None, "hello")], B: [Run(0, 1, Id(A, 1), Id(A, 2), "x")]}, {})
    assert Neighbours().seams(update) == []


def test_what_leads_on_from_known_characters_is_judged_by_the_last_of_them() -> None:
    assert known(HELLO).seams(wrote(A, Run(3, 4, Id(A, 2), None, "lo x"))) == []
    assert len(known(HELLO).seams(wrote(A, Run(3, 4, Id(A, 2), Id(A, 0), "lo x")))) == 1


def test_where_two_met_who_did_not_know_each_other_is_left_open() -> None:
    both = known(wrote(A, Run(0, 1, None, None, "a")), wrote(B, Run(0, 1, None, None, "b")))
    assert len(both.seams(wrote(C, Run(0, 1, Id(A, 0), Id(B, 0), "x")))) == 1


Edits = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 3), st.booleans()), max_size=40)


@given(Edits)
def test_whatever_honest_people_type_at_once_is_taken_by_all_of_them(edits: list[tuple[int, int, int, bool]]) -> None:
    engine = PycrdtEngine()
    base = engine.new()
    base.splice([Splice(0, 0, "some text\n")])
    people: list[SharedText] = [engine.load([base.update()]) for _ in range(3)]
    waiting: list[list[bytes]] = [[], [], []]

    def told(person: int) -> None:
        for update in waiting[person]:
            people[person].apply(update)
        waiting[person].clear()

    for person, place, removed, listens in edits:
        if listens:
            told(person)
        text = people[person].text
        at = place % (len(text) + 1)
        update = people[person].splice([Splice(at, min(len(text), at + removed), "ab")])
        for other in range(3):
            if other != person and update:
                waiting[other].append(update)
    for person in range(3):
        told(person)
    assert len({one.text for one in people}) == 1


ABCD = write_update(wrote(7, Run(0, 4, None, None, "abcd")))
FORGERIES = {
    "at the start, before the third": [wrote(13, Run(0, 1, None, Id(7, 2), "M"))],
    "around the two in the middle": [
        wrote(3, Run(0, 1, Id(7, 0), Id(7, 1), "C")),
        wrote(27, Run(0, 1, Id(7, 0), Id(7, 3), "Z")),
    ],
    "the wrong way round, of two authors": [
        wrote(9, Run(0, 1, Id(7, 1), Id(7, 2), "N")),
        wrote(13, Run(0, 1, Id(9, 0), Id(7, 0), "M")),
    ],
}


@pytest.mark.parametrize("updates", FORGERIES.values(), ids=FORGERIES)
def test_what_lies_nowhere_is_refused_and_leaves_nothing(updates: list[Update]) -> None:
    replica = PycrdtEngine().load([ABCD])
    *fit, forged = map(write_update, updates)
    for update in fit:
        replica.apply(update)
    before = (replica.text, replica.update(), replica.state_vector())
    with pytest.raises(UpdateMalformed):
        replica.apply(forged)
    assert replica.intact
    assert (replica.text, replica.update(), replica.state_vector()) == before


def test_a_seam_where_two_met_is_typed_into() -> None:
    engine = PycrdtEngine()
    ada, ben = engine.new(), engine.new()
    one, other = ada.splice([Splice(0, 0, "ada")]), ben.splice([Splice(0, 0, "ben")])
    ada.apply(other)
    ben.apply(one)
    ben.apply(ada.splice([Splice(3, 3, " and ")]))
    assert ada.text == ben.text
    assert sorted(ada.text.split(" and ")) == ["ada", "ben"]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.booleans()), max_size=8))
def test_what_is_taken_reads_the_same_whoever_comes_first(forged: list[tuple[int, int, bool]]) -> None:
    """Characters put between any two at random: each is refused, or lies in the same place for whoever loads the document."""
    engine = PycrdtEngine()
    replica = engine.load([ABCD])
    places: list[Id | None] = [Id(7, clock) for clock in range(4)] + [None]
    for client, (left, right, dead) in enumerate(forged, start=1):
        run = Run(0, 1, places[left % len(places)], places[right % len(places)], None if dead else chr(64 + client))
        try:
            replica.apply(write_update(wrote(client if client < 7 else client + 10, run)))
        except UpdateMalformed:
            assert replica.intact
            continue
        places.append(Id(client if client < 7 else client + 10, 0))
        assert engine.read(replica.update()) == replica.text
