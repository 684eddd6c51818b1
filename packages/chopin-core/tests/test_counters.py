"""The counters of a document move by what was accepted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chopin_core.counters import LARGEST, DocumentCounters, DocumentSequence, PlanRevision

batches = st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=30)


def test_a_document_starts_at_zero() -> None:
    assert DocumentCounters() == DocumentCounters(sequence=DocumentSequence(0), plan=PlanRevision(0))


@given(batches)
def test_every_update_is_counted_and_every_change_of_the_text(accepted: list[tuple[int, bool]]) -> None:
    counters = DocumentCounters()
    for updates, changed in accepted:
        counters = counters.accepted(updates, text_changed=changed)

    assert counters.sequence == sum(updates for updates, _ in accepted)
    assert counters.plan == sum(changed for _, changed in accepted)


@given(st.integers(0, 1_000), st.integers(0, 1_000), st.integers(0, 50), st.booleans())
def test_no_counter_ever_falls(sequence: int, plan: int, updates: int, changed: bool) -> None:
    before = DocumentCounters(sequence=DocumentSequence(sequence), plan=PlanRevision(plan))

    after = before.accepted(updates, text_changed=changed)

    assert (before.sequence, before.plan) == (sequence, plan)
    assert after.sequence >= before.sequence
    assert after.plan in (before.plan, before.plan + 1)


def test_the_largest_counter_is_one_a_browser_can_count_to() -> None:
    assert float(LARGEST) == LARGEST
    assert float(LARGEST) + 1 != float(LARGEST)
    assert float(LARGEST + 1) + 1 == float(LARGEST + 1)
