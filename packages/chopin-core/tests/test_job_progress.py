"""What a worker may say of how far it is."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from chopin_core.errors import InvalidField
from chopin_core.jobs.progress import ProgressState, Step

STEP = Step(stage="reading", label="Reading", state=ProgressState.STARTED)
INTERRUPTED = Step(stage="reading", label="Reading", state=ProgressState.INTERRUPTED, reason="rate-limit")


@pytest.mark.parametrize("code", ["a", "a1", "a-", "a--1", "z" * 64])
def test_a_stage_and_a_reason_are_codes(code: str) -> None:
    assert attrs.evolve(STEP, stage=code).stage == code
    assert attrs.evolve(INTERRUPTED, reason=code).reason == code


@pytest.mark.parametrize("text", ["", "A", "1a", "-a", "a b", "a_b", "é", "a\n", "z" * 65, "a\0", "\ud800"])
def test_anything_else_is_no_code(text: str) -> None:
    for step, field in ((STEP, "stage"), (INTERRUPTED, "reason")):
        changes: dict[str, Any] = {field: text}
        with pytest.raises(InvalidField) as caught:
            attrs.evolve(step, **changes)
        assert caught.value.field == field


@pytest.mark.parametrize(
    ("given", "kept"), [(" a ", "a"), ("\u00a0\ta\n", "a"), ("a b", "a b"), ("x" * 160, "x" * 160), ("😀" * 80, "😀" * 80)]
)
def test_a_label_is_trimmed_and_counted_as_a_browser_counts(given: str, kept: str) -> None:
    assert attrs.evolve(STEP, label=given).label == kept


@pytest.mark.parametrize("label", ["", "  \n", "x" * 161, "😀" * 80 + "x", "a\0b", "a\ud800b"])
def test_a_label_that_is_empty_too_long_or_cannot_be_kept_is_refused(label: str) -> None:
    with pytest.raises(InvalidField) as caught:
        attrs.evolve(STEP, label=label)
    assert caught.value.field == "label"


@pytest.mark.parametrize("state", [ProgressState.STARTED, ProgressState.COMPLETED])
def test_a_reason_goes_with_an_interrupted_step_and_with_no_other(state: ProgressState) -> None:
    assert attrs.evolve(STEP, state=state).reason is None
    for changes in ({"state": state, "reason": "rate-limit"}, {"state": ProgressState.INTERRUPTED, "reason": None}):
        given: dict[str, Any] = changes
        with pytest.raises(InvalidField) as caught:
            attrs.evolve(STEP, **given)
        assert caught.value.field == "reason"
