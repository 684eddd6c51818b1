"""From one text to another in small steps."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.rewriting import splices_between
from chopin_core.document.splice import Splice, spliced

from .sources import DOCUMENT, hostile

words = st.lists(
    st.sampled_from(("a", "the ", "quick ", "\n", "\n\n", "- ", "😀", "é", "e\u0301", "\u200d", "jumps over it ")), max_size=40
).map("".join)


@given(old=words | hostile, new=words | hostile)
def test_the_splices_make_the_new_text_of_the_old(old: str, new: str) -> None:
    assert spliced(old, splices_between(old, new)) == new


@given(text=words)
def test_equal_texts_need_none(text: str) -> None:
    assert splices_between(text, text) == ()


def kept(old: str, new: str) -> int:
    """How many characters of the new text are still those of the old."""
    return len(new) - sum(len(splice.insert) for splice in splices_between(old, new))


def test_two_words_in_a_line_are_two_small_splices() -> None:
    old = "The quick brown fox jumps over the lazy dog tonight.\n"
    assert splices_between(old, old.replace("brown", "red").replace("dog", "cat")) == (
        Splice(10, 15, "red"),
        Splice(38, 41, "cat"),
    )


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (lambda text: text.replace("# A plan", "# Another plan"), 0.98),
        (lambda text: text + "\nA new end.\n", 0.98),
        (lambda text: "A new start.\n\n" + text, 0.98),
        (lambda text: text.replace("> A quotation\n> of two lines\n\n", ""), 1.0),
        (lambda text: text.replace("one\n2. two", "one\n2. two\n3. three"), 0.98),
        (lambda text: text.replace("Some", "Any").replace("inside", "within"), 0.97),
    ],
)
def test_what_a_change_leaves_alone_keeps_its_identity(change: object, least: float) -> None:
    assert callable(change)
    new = change(DOCUMENT)
    assert kept(DOCUMENT, new) >= least * len(new)


def test_a_block_that_moved_keeps_the_rest_in_place() -> None:
    paragraphs = [f"Paragraph {number} says something of its own.\n\n" for number in range(50)]
    moved = [*paragraphs[1:], paragraphs[0]]
    assert len(splices_between("".join(paragraphs), "".join(moved))) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cafe\u0301 x", "cafe\u0300 x"),
        ("👨\u200d👩\u200d👧 x", "👨\u200d👩\u200d👦 x"),
        ("👍🏻", "👍🏿"),
        ("🇫🇷", "🇫🇮"),
        ("❤\ufe0f", "❤\ufe0e"),
    ],
)
def test_characters_that_are_drawn_as_one_are_replaced_as_one(old: str, new: str) -> None:
    (splice,) = splices_between(old, new)
    drawn = old.removesuffix(" x")
    start = splice.start
    assert old[start : splice.end] == drawn[start:]
    assert start == 0 or (start == 3 and old.startswith("caf"))


@pytest.mark.parametrize(
    "pair",
    [
        ("x\n" * 60_000, "y\n" * 60_000),
        ("x\n" * 60_000, "x\ny\n" * 30_000),
        ("\n" * 100_000, "\n" * 50_000 + "x" + "\n" * 50_000),
        ("".join(f"{n}\n" for n in range(30_000)), "".join(f"{n}\n" for n in reversed(range(30_000)))),
        ("".join(f"{n} a b c\n" for n in range(20_000)), "".join(f"{n} a d c\n" for n in range(20_000))),
        ("a " * 100_000, "b " * 100_000),
        ("a" * 200_000, "ab" * 100_000),
    ],
)
def test_large_and_repetitive_texts_are_no_trouble(pair: tuple[str, str]) -> None:
    old, new = pair
    assert rebuilt(old, splices_between(old, new)) == new


def rebuilt(old: str, splices: Sequence[Splice]) -> str:
    """What :func:`spliced` makes, in one pass over splices that follow each other."""
    pieces: list[str] = []
    done = moved = 0
    for splice in splices:
        pieces += (old[done : splice.start - moved], splice.insert)
        done = splice.end - moved
        moved += len(splice.insert) - (splice.end - splice.start)
    return "".join((*pieces, old[done:]))
