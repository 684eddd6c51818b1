"""The contract against a model: whatever is edited and exchanged, a replica's text is what a Python string would be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.splice import spliced
from chopin_core.engines.wire import read_vector
from chopin_core.ports.documents import DocumentEngine

from .editing import catch_up, copy, edits, texts, the_same_clients_each_time, written


@given(data=st.data())
def test_edits_do_what_they_do_to_a_string(engine: DocumentEngine, data: st.DataObject) -> None:  # cases.md 66
    text = data.draw(texts)
    replica = written(engine, text)
    mirror = copy(engine, replica)
    for _ in range(3):
        made = data.draw(edits(text))
        before, text = text, spliced(text, made)
        applied = mirror.apply(update) if (update := replica.splice(made)) else None
        assert replica.text == mirror.text == text
        assert spliced(before, applied.splices if applied else ()) == text
    assert copy(engine, replica).text == text


@given(data=st.data())
def test_replicas_that_have_seen_the_same_say_the_same(engine: DocumentEngine, data: st.DataObject) -> None:
    with the_same_clients_each_time():
        first = written(engine, data.draw(texts))
        replicas = [first, copy(engine, first), copy(engine, first)]
    for _ in range(data.draw(st.integers(1, 8))):
        replica, other = data.draw(st.permutations(replicas))[:2]
        replica.splice(data.draw(edits(replica.text, most=2)))
        if data.draw(st.booleans()):
            before = other.text
            applied = other.apply(replica.diff(other.state_vector()))
            assert spliced(before, applied.splices) == other.text
    for replica in replicas:
        for other in replicas:
            catch_up(replica, other)
    assert len({replica.text for replica in replicas}) == 1
    assert all(read_vector(replica.state_vector()) == read_vector(first.state_vector()) for replica in replicas)


@given(data=st.data())
def test_updates_that_arrive_in_one_order_or_another_end_in_one_text(engine: DocumentEngine, data: st.DataObject) -> None:
    first = written(engine, data.draw(texts))
    updates: list[bytes] = []
    for _ in range(data.draw(st.integers(2, 5))):
        branch = copy(engine, first)
        updates += [update for _ in range(2) if (update := branch.splice(data.draw(edits(branch.text, most=2))))]
    shuffled = data.draw(st.permutations(updates))
    assert engine.load([first.update(), *updates]).text == engine.load([*shuffled, first.update()]).text
