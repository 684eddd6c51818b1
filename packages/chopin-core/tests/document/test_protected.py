"""The blocks that show records, and what counts as changing them."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chopin_core.document.canonical import canonical
from chopin_core.document.protected import protected_blocks

from .sources import DECISION, DOCUMENT, QUESTIONNAIRE, RESEARCH, hostile

OTHER = DECISION.replace("go", "stay")
PROSE = "# Title\n\nSome prose.\n\n- a list\n\n  ```\n  code\n  ```\n\n```\nmore code\n```\n\n"


def test_a_text_without_records_has_none() -> None:
    assert protected_blocks("") == ()
    assert protected_blocks(DOCUMENT) == ()
    assert protected_blocks("Research and Decision are words, <Researcher /> is nobody") == ()


@pytest.mark.parametrize("block", [DECISION, QUESTIONNAIRE, RESEARCH])
@pytest.mark.parametrize(
    "before",
    ["", PROSE, "text right above\n", "> a quotation\n", "- a list\n", "| a |\n|---|\n| b |\n", "<Callout>\n", "- ```\n"],
)
@pytest.mark.parametrize("after", ["", "\n", "  \n\nmore", "\ntext right below", "\n```\ncode"])
def test_a_block_is_found_byte_by_byte(block: str, before: str, after: str) -> None:
    assert protected_blocks(before + block + after) == (block,)


def test_where_blocks_stand_and_in_what_order_does_not_count() -> None:
    one = f"{PROSE}{DECISION}\n\n{RESEARCH}\n\n{QUESTIONNAIRE}\n"
    two = f"{QUESTIONNAIRE}\n{RESEARCH}\n\n{PROSE}{DECISION}"
    assert protected_blocks(one) == protected_blocks(two)
    assert len(protected_blocks(one)) == 3


def test_how_often_a_block_stands_there_counts() -> None:
    assert protected_blocks(f"{RESEARCH}\n{RESEARCH}\n") != protected_blocks(RESEARCH)


PLAIN = DECISION.replace("It's", "It is")

HIDDEN = {
    "fenced": f"```\n{PLAIN}\n```",
    "below an open fence": f"~~~~ text\n{PLAIN}",
    "below an indented fence": f"  ```\n{PLAIN}",
    "between two fences": f"```\n{PLAIN}\n\n```js\nx\n```",
    "in math": f"$$\n{PLAIN}\n$$",
    "in a list's fence that goes on": f"text\n\n    ```\n{PLAIN}",
    "indented": "  " + PLAIN,
    "quoted": "> " + PLAIN.replace("\n", "\n> "),
    "listed": "- " + PLAIN.replace("\n", "\n  "),
    "escaped": "\\" + PLAIN,
    "among words": "see " + PLAIN,
    "followed by words": PLAIN + " x",
    "without its end": PLAIN.removesuffix("</Decision>"),
    "without its start": PLAIN.partition("\n")[2],
    "with words inside": PLAIN.replace("\n<Note", "\nwords\n<Note"),
    "with an expression": PLAIN.replace("<Note", "<Note x={1}"),
    "swallowed by an attribute": "<Callout title='\n" + PLAIN + "\n'>",
    "renamed": PLAIN.replace("Decision", "Decisions"),
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_block_that_is_hidden_or_broken_is_not_there(text: str) -> None:
    assert protected_blocks(text) == ()
    assert protected_blocks(f"{PROSE}{text}\n") == ()


def test_a_block_in_a_block_is_itself_and_the_outer_one_is_none() -> None:
    assert protected_blocks(DECISION.replace("\n<Note", f"\n{RESEARCH}\n<Note")) == (RESEARCH,)


@pytest.mark.parametrize(
    "text", [OTHER, DECISION + OTHER, DECISION.replace("ana", "eve"), DECISION.replace("  ", " ") + "\n" + RESEARCH]
)
def test_forging_or_altering_shows(text: str) -> None:
    assert protected_blocks(text) != protected_blocks(DECISION)


def test_a_quotation_mark_in_an_attribute_does_not_end_a_block() -> None:
    block = DECISION.replace("Ship", "See </Decision> and > and ``` and")
    assert protected_blocks(block) == (block,)


@given(before=hostile, after=hostile)
def test_what_is_protected_reaches_the_canonical_source(before: str, after: str) -> None:
    # Below a fence whose end is doubtful the canonical source escapes everything, records too.
    assume(not re.search(r"[`~]{3}|\$\$|[\r\0\x85\u2028]", before))
    text = f"{before}\n{DECISION}\n{after}"
    if DECISION in protected_blocks(text):
        assert DECISION in canonical(text)


@given(data=st.data())
def test_prose_around_blocks_changes_nothing(data: st.DataObject) -> None:
    prose = st.text("ab #>-*\n_[]()`", max_size=40).map(lambda text: text.replace("```", ""))
    text = f"{data.draw(prose)}\n{DECISION}\n{data.draw(prose)}\n{RESEARCH}\n{data.draw(prose)}"
    assert protected_blocks(text) == (DECISION, RESEARCH)
