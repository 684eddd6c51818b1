"""The contract of merging: one update for many, whole or not."""

from __future__ import annotations

from random import Random

import pytest

from chopin_core.document.splice import Splice
from chopin_core.engines.encoding import write_update
from chopin_core.engines.wire import Id, Run, Update, read_vector
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import DocumentEngine

from .editing import copy, history, written


@pytest.mark.parametrize("seed", range(20))
def test_a_merged_history_is_the_history(engine: DocumentEngine, seed: int) -> None:
    replica, updates = history(engine, Random(seed))
    for cut in range(0, len(updates), 5):
        parts = [engine.merge(updates[:cut]), engine.merge(updates[cut:])]
        for loaded in (engine.load(parts), engine.load(parts[::-1]), engine.load([engine.merge(parts)])):
            assert loaded.text == replica.text
            assert read_vector(loaded.state_vector()) == read_vector(replica.state_vector())


def test_a_group_of_updates_need_not_hold_what_it_builds_on(engine: DocumentEngine) -> None:
    here = written(engine, "base 😀 ")
    there = copy(engine, here)
    group = [here.splice([Splice(7, 7, "one ")]), here.splice([Splice(0, 4, "")]), here.splice([Splice(7, 7, "two")])]
    there.apply(engine.merge(group))
    assert there.text == here.text


def test_what_several_updates_tell_is_told_once(engine: DocumentEngine) -> None:
    here = written(engine, "text ")
    parts = [here.update()]
    for word in ("more 😀", "and ", "中文"):
        here.splice([Splice(5, 5, word)])
        parts.append(here.update())
    merged = engine.merge(parts)
    assert len(merged) <= len(here.update()) + 40  # an overlap that is cut may leave a run in two
    assert engine.load([merged]).text == here.text


def test_a_run_that_is_half_known_goes_on_where_the_known_half_ends(engine: DocumentEngine) -> None:
    known = write_update(Update({7: [Run(0, 5, None, None, "ab😀c")]}, {}))
    further = write_update(Update({7: [Run(2, 5, Id(7, 1), None, "😀cde")]}, {}))
    assert engine.load([engine.merge([known, further])]).text == "ab😀cde"
    assert engine.load([engine.merge([further, known])]).text == "ab😀cde"


def test_a_run_that_goes_on_from_half_a_character_is_refused(engine: DocumentEngine) -> None:
    known = write_update(Update({7: [Run(0, 3, None, None, "abc")]}, {}))
    with pytest.raises(UpdateMalformed):
        engine.merge([known, write_update(Update({7: [Run(2, 2, Id(7, 1), None, "😀")]}, {}))])


def test_merging_nothing_is_the_update_that_changes_nothing(engine: DocumentEngine) -> None:
    replica = written(engine, "text")
    assert replica.apply(engine.merge([])).update == b""
    assert replica.text == "text"


def test_merging_is_linear(engine: DocumentEngine) -> None:
    replica = engine.new()
    updates = [replica.splice([Splice(at // 2, at // 2, "x")]) for at in range(3000)]
    assert engine.load([engine.merge(updates)]).text == replica.text


def test_one_unreadable_update_makes_the_whole_unreadable(engine: DocumentEngine) -> None:
    replica = written(engine, "text")
    with pytest.raises(UpdateMalformed):
        engine.merge([replica.update(), b"\x01\x01"])
