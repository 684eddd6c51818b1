"""Titles, slugs and activity times follow their rules for any text and any clock."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chopin_core.channel import SLUG_LENGTH, TITLE_LENGTH, free_slug, moved_on, parse_title, slug_of, title_key
from chopin_core.errors import InvalidField

texts = st.text(st.characters())
instants = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("A Plan: the First", "a-plan-the-first"),
        ("  --Edges!--  ", "edges"),
        ("snake_case/and.dots", "snake-case-and-dots"),
        ("Größe 日本語", "größe-日本語"),
        ("ﬁn Ⅷ ½ ²", "fin-viii-1-2-2"),
        ("İstanbul", "i\u0307stanbul"),
        ("ΟΔΟΣ", "οδος"),
        ("क्षि", "क्षि"),
        ("e\u0301", "é"),
        ("\u0301", "\u0301"),
        ("😀", "document"),
        ("", "document"),
        ("\0\ud800\n", "document"),
        ("a\ud800b", "a-b"),
    ],
)
def test_a_slug_is_made_of_letters_numbers_and_marks(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@given(texts)
def test_a_slug_has_a_slugs_shape(title: str) -> None:
    slug = slug_of(title)

    assert 1 <= len(slug) <= SLUG_LENGTH
    assert "--" not in slug
    assert slug == slug.strip("-")
    assert all(character == "-" or unicodedata.category(character)[0] in "LNM" for character in slug)


@given(texts)
@example("J\u030c")
@example("İ")
@example("Ⅷ" * 40)
def test_a_slug_typed_in_as_an_address_is_itself(title: str) -> None:
    assert slug_of(slug_of(title)) == slug_of(title)


@given(st.lists(texts | st.sampled_from(["Plan", "plan", "PLAN!", "x" * 200, "é" * 99 + " b"]), max_size=30))
def test_every_title_gets_a_free_slug_of_its_own(titles: list[str]) -> None:
    taken: set[str] = set()
    for title in titles:
        slug = free_slug(title, taken.__contains__)

        assert slug not in taken
        assert 1 <= len(slug) <= SLUG_LENGTH
        assert "--" not in slug
        taken.add(slug)


def test_numbers_are_given_in_order_and_the_base_first() -> None:
    taken: list[str] = []
    for _ in range(12):
        taken.append(free_slug("Plan", taken.__contains__))

    assert taken == ["plan", *(f"plan-{number}" for number in range(2, 13))]


def test_a_long_stem_gives_way_to_its_number_without_two_hyphens() -> None:
    title = "a" * (SLUG_LENGTH - 3) + " bb"

    assert free_slug(title, lambda slug: False) == slug_of(title)
    assert free_slug(title, lambda slug: slug == slug_of(title)) == "a" * (SLUG_LENGTH - 3) + "-2"


@given(texts)
def test_a_title_that_passes_is_one_trimmed_line_of_text(given_title: str) -> None:
    try:
        title = parse_title(given_title)
    except InvalidField as refused:
        assert refused.field == "title"
        return

    assert title == given_title.strip()
    assert 1 <= len(title) <= TITLE_LENGTH
    assert len(title.splitlines()) == 1
    assert title.encode()
    assert parse_title(title) == title


@pytest.mark.parametrize("title", ["A plan", "  padded  ", "é" * TITLE_LENGTH, "😀 👩‍👩‍👧", "שלום", "a/b?c#d%", "a\xa0b"])
def test_ordinary_titles_pass(title: str) -> None:
    assert parse_title(title) == title.strip()


REFUSED: list[Any] = [
    "",
    " \t ",
    "a" * (TITLE_LENGTH + 1),
    "a\nb",
    "a\tb",
    "a\0b",
    "a\x7fb",
    "a\u2028b",
    "\ud800",
    None,
    7,
    b"a",
]


@pytest.mark.parametrize("title", REFUSED, ids=repr)
def test_what_is_no_title_is_refused(title: Any) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_title(title)

    assert caught.value.field == "title"


@given(texts)
def test_titles_that_differ_in_the_case_of_ascii_letters_share_a_key(title: str) -> None:
    swapped = "".join(character.swapcase() if character.isascii() else character for character in title)

    assert title_key(swapped) == title_key(title)


@pytest.mark.parametrize(("one", "other"), [("é", "e"), ("ß", "ss"), ("a", "a "), ("ı", "i"), ("e\u0301", "é")])
def test_titles_that_differ_otherwise_do_not(one: str, other: str) -> None:
    assert title_key(one) != title_key(other)


@given(instants, instants)
def test_activity_moves_on_and_no_further_than_it_must(stored: datetime, now: datetime) -> None:
    after = moved_on(stored, now)

    assert after - stored >= timedelta(milliseconds=1)
    assert after in (now, stored + timedelta(milliseconds=1))


@given(instants, st.integers(0, 999))
def test_activity_moves_by_a_millisecond_though_the_clock_moved_by_less(stored: datetime, microseconds: int) -> None:
    assert moved_on(stored, stored + timedelta(microseconds=microseconds)) == stored + timedelta(milliseconds=1)
