"""A sidecar survives being stored, patched and restored, and what does not fit is not opened."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.counters import LARGEST, DocumentCounters, DocumentSequence, PlanRevision
from chopin_core.errors import CorruptRecord, InvalidField
from chopin_core.jsonvalue import Json
from chopin_core.sidecar import (
    SECTION_NAME,
    Sidecar,
    SidecarPatch,
    SidecarRecord,
    restore,
    unanswered_decisions,
)

HEAD: dict[str, Json] = {"version": 1, "documentSeq": 5, "revision": 3}

names = st.sampled_from(["graph", "creation", "mcpUpdates.one", "mcpUpdates.two", "questions"])
sections = st.dictionaries(names, st.none() | st.integers() | st.text() | st.dictionaries(st.text(), st.integers()))
records = st.builds(SidecarRecord, head=st.integers(), sections=sections)
patches = st.builds(SidecarPatch, head=st.integers(), sections=sections, removed=st.frozensets(names))
counters = st.builds(
    DocumentCounters,
    sequence=st.integers(0, LARGEST).map(DocumentSequence),
    plan=st.integers(0, LARGEST).map(PlanRevision),
)
known = st.dictionaries(
    st.sampled_from(["graph", "mcpUpdates.9f86d0", "mcpUpdates.60303a"]), st.dictionaries(st.text(), st.integers())
)


@given(records | st.none(), patches)
def test_a_patch_writes_its_sections_removes_the_named_and_keeps_the_rest(
    record: SidecarRecord | None, patch: SidecarPatch
) -> None:
    after = patch.applied_to(record)

    before = {} if record is None else record.sections
    assert after.head == patch.head
    for name in before.keys() | patch.sections.keys() | patch.removed:
        if name in patch.sections:
            assert after.sections[name] == patch.sections[name]
        elif name in patch.removed:
            assert name not in after.sections
        else:
            assert after.sections[name] == before[name]


@given(records, patches)
def test_applying_a_patch_twice_is_applying_it_once(record: SidecarRecord, patch: SidecarPatch) -> None:
    once = patch.applied_to(record)

    assert patch.applied_to(once) == once


def test_a_record_does_not_follow_the_mapping_it_was_made_from() -> None:
    given_sections: dict[str, Json] = {"graph": 1}
    record = SidecarRecord(head=None, sections=given_sections)

    given_sections["graph"] = 2
    given_sections["creation"] = 3

    assert record.sections == {"graph": 1}
    with pytest.raises(TypeError):
        record.sections["graph"] = 4  # type: ignore[index]  # because the refusal at run time is what is tested


@pytest.mark.parametrize("name", ["graph", "mcpUpdates", "mcpUpdates.9f86d0-a_B", "a", "a" * 64, "a." + "b" * 128])
def test_a_section_name_is_a_family_or_one_member_of_it(name: str) -> None:
    assert SECTION_NAME.fullmatch(name)
    assert SidecarRecord(head=None, sections={name: 1}).sections == {name: 1}


@pytest.mark.parametrize("name", ["", "Graph", "a.", ".a", "a.b.c", "a b", "a\n", "1a", "é", "a" * 65, "a." + "b" * 129, "a\0"])
def test_nothing_else_is_a_section_name(name: str) -> None:
    for make in (
        lambda: SidecarRecord(head=None, sections={name: 1}),
        lambda: SidecarPatch(head=None, sections={name: 1}),
        lambda: SidecarPatch(head=None, removed=frozenset({name})),
    ):
        with pytest.raises(InvalidField):
            make()


@given(counters, known)
def test_a_sidecar_is_restored_from_its_record(at: DocumentCounters, kept: dict[str, Json]) -> None:
    sidecar = Sidecar(counters=at, sections=kept)

    assert restore(sidecar.record()) == sidecar


@given(counters, known, counters, known)
def test_a_patched_sidecar_is_where_its_patch_brings_storage(
    at: DocumentCounters, kept: dict[str, Json], then: DocumentCounters, written: dict[str, Json]
) -> None:
    sidecar = Sidecar(counters=at, sections=kept)

    after, patch = sidecar.patched(then, written)

    assert patch.applied_to(sidecar.record()) == after.record()
    assert after == Sidecar(counters=then, sections={**kept, **written})
    assert sidecar == Sidecar(counters=at, sections=kept)


def test_nothing_written_is_an_empty_sidecar() -> None:
    assert restore(None) == Sidecar()


BAD_HEADS: list[Any] = [
    None,
    [],
    {},
    {"version": 1, "documentSeq": 5},
    {**HEAD, "more": 1},
    {**HEAD, "version": 2},
    {**HEAD, "version": "1"},
    {**HEAD, "documentSeq": -1},
    {**HEAD, "documentSeq": 1.0},
    {**HEAD, "documentSeq": True},
    {**HEAD, "revision": "3"},
    {**HEAD, "revision": LARGEST + 1},
    {**HEAD, "revision": None},
]


@pytest.mark.parametrize("head", BAD_HEADS, ids=repr)
def test_a_head_that_does_not_fit_is_corrupt(head: Any) -> None:
    with pytest.raises(CorruptRecord) as caught:
        restore(SidecarRecord(head=head))

    assert caught.value.where == "sidecar head"


def test_counters_are_restored_up_to_the_largest() -> None:
    restored = restore(SidecarRecord(head={**HEAD, "documentSeq": LARGEST, "revision": 0}))

    assert restored.counters == DocumentCounters(sequence=DocumentSequence(LARGEST), plan=PlanRevision(0))


def test_a_section_of_an_unknown_family_is_corrupt() -> None:
    for name in ("future", "future.one", "creations"):
        with pytest.raises(CorruptRecord):
            restore(SidecarRecord(head=HEAD, sections={name: {}}))


@pytest.mark.parametrize("value", [None, [], "graph", 7])
def test_an_invalid_graph_is_dropped_and_anything_else_invalid_refused(value: Json) -> None:
    assert restore(SidecarRecord(head=HEAD, sections={"graph": value})).sections == {}

    for name in ("creation", "mcpUpdates.one"):
        with pytest.raises(CorruptRecord):
            restore(SidecarRecord(head=HEAD, sections={name: value}))


def test_former_brief_and_origin_become_the_creation() -> None:
    former = SidecarRecord(head=HEAD, sections={"brief": {"goal": "g"}, "origin": {"agent": "a"}})

    restored = restore(former)

    assert restored.sections == {"creation": {"brief": {"goal": "g"}, "origin": {"agent": "a"}}}
    assert restore(restored.record()) == restored


@pytest.mark.parametrize("former", [{"brief": {}}, {"origin": {}}, {"brief": {}, "origin": {}, "creation": {}}], ids=repr)
def test_half_of_a_former_shape_or_both_shapes_are_corrupt(former: dict[str, Json]) -> None:
    with pytest.raises(CorruptRecord):
        restore(SidecarRecord(head=HEAD, sections=former))


@pytest.mark.parametrize("creation", [{}, {"brief": {}}, {"brief": {}, "origin": {}, "more": {}}], ids=repr)
def test_a_creation_has_exactly_a_brief_and_an_origin(creation: Json) -> None:
    with pytest.raises(CorruptRecord):
        restore(SidecarRecord(head=HEAD, sections={"creation": creation}))


# Counting what waits for an answer


@attrs.frozen
class Asked:
    """A question record as a strategy draws it: how many questions, which of them answered, in which state."""

    questions: int
    answered: int
    status: str

    def record(self) -> Json:
        return {
            "status": self.status,
            "definition": {"questions": [{"id": f"q{number}"} for number in range(self.questions)]},
            "answers": {f"q{number}": "yes" for number in range(self.answered)},
        }

    def waiting(self) -> int:
        match self.status:
            case "open":
                return max(0, self.questions - self.answered)
            case "reopened":
                return self.questions
            case _:
                return 0


asked = st.builds(Asked, st.integers(0, 5), st.integers(0, 7), st.sampled_from(["open", "reopened", "answered", ""]))


@given(st.lists(asked))
def test_the_count_is_the_sum_over_all_records(records: list[Asked]) -> None:
    assert unanswered_decisions([one.record() for one in records]) == sum(one.waiting() for one in records)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["open", "reopened"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["status", "definition", "questions", "answers", "id"]), inner)
    ),
)


@given(json_values)
def test_any_json_can_be_counted(value: Json) -> None:
    assert unanswered_decisions(value) >= 0
