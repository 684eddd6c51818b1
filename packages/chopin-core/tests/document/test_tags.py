"""Reading one tag."""

from __future__ import annotations

import pytest

from chopin_core.document.tags import Attribute, AttributeKind, Tag, TagKind, read_tag


def tag(name: str, kind: TagKind, end: int, *attributes: Attribute) -> Tag:
    return Tag(name, kind, attributes, 0, end)


def quoted(name: str, value: str) -> Attribute:
    return Attribute(name, value, AttributeKind.QUOTED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Tab>", tag("Tab", TagKind.OPEN, 5)),
        ("</Tab>", tag("Tab", TagKind.CLOSE, 6)),
        ("</Tab \n>x", tag("Tab", TagKind.CLOSE, 8)),
        ("<Tab/>", tag("Tab", TagKind.EMPTY, 6)),
        ("<Tab / >", tag("Tab", TagKind.EMPTY, 8)),
        ("<a.b:c-d />", tag("a.b:c-d", TagKind.EMPTY, 11)),
        ("<>", tag("", TagKind.OPEN, 2)),
        ("</>", tag("", TagKind.CLOSE, 3)),
        ('<A b="c > d" e=\'f\n"g\'>', tag("A", TagKind.OPEN, 22, quoted("b", "c > d"), quoted("e", 'f\n"g'))),
        ('<A b = "c"d="e"/>', tag("A", TagKind.EMPTY, 17, quoted("b", "c"), quoted("d", "e"))),
        ("<A b>", tag("A", TagKind.OPEN, 5, Attribute("b", "", AttributeKind.BARE))),
        ("<A b=c/>", tag("A", TagKind.EMPTY, 8, Attribute("b", "c", AttributeKind.BARE))),
        ("<A b={{c}}>", tag("A", TagKind.OPEN, 11, Attribute("b", "{{c}}", AttributeKind.EXPRESSION))),
        ("<A {...b}>", tag("A", TagKind.OPEN, 10, Attribute("", "...b", AttributeKind.SPREAD))),
    ],
)
def test_a_tag_is_read_to_its_end(text: str, expected: Tag) -> None:
    assert read_tag(text, 0) == expected
    assert read_tag("xx" + text, 2) == expected._replace(start=2, end=expected.end + 2)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "<",
            "< A>",
            "<1>",
            "<A",
            "<A b",
            '<A b="c',
            "<A b={c>",
            "<A b=>",
            "<A/ b>",
            "</A b>",
            "</A/>",
            "<A<B>",
            "</ A>",
            "<!-- -->",
        ),
        *('<Ab="c">', '<A "b">', "<A b={" + "x" * 200 + "}>"),
    ],
)
def test_what_is_no_tag_is_none(text: str) -> None:
    assert read_tag(text, 0) is None


def test_a_tag_that_goes_on_behind_the_stop_is_none() -> None:
    assert read_tag('<A b="c">', 0, 8) is None
    assert read_tag('<A b="c">', 0, 9) is not None
    assert read_tag('<A b="c">', 0, 7) is None


def test_plain_is_what_mdx_would_not_evaluate() -> None:
    for text, plain in (("<A b='{c}'>", True), ("<A b={c}>", False), ("<A b>", False), ("<A {...b}>", False), ("</A>", True)):
        found = read_tag(text, 0)
        assert found is not None
        assert found.plain is plain
