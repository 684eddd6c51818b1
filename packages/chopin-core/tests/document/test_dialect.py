"""What a source from an agent may contain, rule by rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.document.components import FLOW, PROJECTIONS, TEXT
from chopin_core.document.dialect.components import COMPONENTS
from chopin_core.document.dialect.source import issues_of

from .sources import DECISION, DOCUMENT, QUESTIONNAIRE, RESEARCH, ULID, UUID, hostile


def codes(source: str) -> list[str]:
    return [issue.code for issue in issues_of(source)]


def callout(inside: str = "text", attributes: str = f'id="{ULID}" type="note"') -> str:
    return f"<Callout {attributes}>\n\n{inside}\n\n</Callout>\n"


def tabs(inside: str = "text", attributes: str = f'id="{UUID}" label="One"') -> str:
    return f'<Tabs id="{ULID}">\n<Tab {attributes}>\n\n{inside}\n\n</Tab>\n</Tabs>\n'


def card(question: str = 'multiple="false"', inside: str = "", card: str = "") -> str:
    """A questionnaire with one question and two options, A and B."""
    a, b = ULID[:-1] + "A", ULID[:-1] + "B"
    options = f'<Option id="{a}" label="A" />\n<Option id="{b}" label="B" />\n'
    head = f'<Question id="{ULID[:-1]}Q" header="h" prompt="p" {question}>'
    return f'<Questionnaire id="{UUID}"{card}>\n{head}\n{options}{inside}\n</Question>\n</Questionnaire>\n'


def bare_card(question: str = "false", card: str = "") -> str:
    head = f'<Question id="{ULID}" header="h" prompt="p" multiple="{question}" />'
    return f'<Questionnaire id="{UUID}"{card}>\n{head}\n</Questionnaire>\n'


A, B = ULID[:-1] + "A", ULID[:-1] + "B"
PREVIOUS = '<Previous by="ana" at="now" {} />'


def test_a_document_of_everything_has_no_issues() -> None:
    assert issues_of(DOCUMENT) == ()


@pytest.mark.parametrize(
    "source",
    [
        "",
        "just words\n\n\n",
        "a < b, a \\<b> and \\{c}",
        "importing is no import, and neither is\nimport in a paragraph",
        "1) one\n\n***\n\nSetext\n===\n\nhard  \nbreak\\\nbreak",
        '[no protocol](docs/page.md#a) [mail](mailto:a@b.c) [top](https://example.com "title")',
        "$5 and $6",
        callout(attributes=f'id="{ULID}" type="tip" title="{"t" * 100}"'),
        tabs(callout().replace(ULID, ULID[:-1] + "C")),
        "<Columns>\n\none\n\ntwo\n\n</Columns>",
        DECISION,
        QUESTIONNAIRE,
        RESEARCH,
        card(inside=f'<Answer value="A" choices="{A}" />\n' + PREVIOUS.format(f'choices="{B}"')),
        card('multiple="true"', f'<Answer value="A, B" choices="{A} {B}" />'),
        card(inside=PREVIOUS.format('value="words"')),
        bare_card(),
        bare_card(card=' status="expired"'),
        bare_card(card=' thread="t" status="open"'),
    ],
)
def test_what_the_dialect_allows_has_no_issues(source: str) -> None:
    assert issues_of(source) == ()


NODES = {
    "an expression": ("{x}", ["forbidden-node"]),
    "an expression among words": ("a {x} b", ["forbidden-node"]),
    "an import": ("import x from 'y'", ["forbidden-node"]),
    "an export below a heading": ("# h\nexport const a = 1", ["forbidden-node"]),
    "a comment": ("<!-- x -->", ["forbidden-node"]),
    "a definition": ("[a]: https://b.c\n\n[a]", ["forbidden-node"]),
    "a definition twice": ("[a]: b\n[a]: c", ["forbidden-node", "forbidden-node"]),
    "an element": ("<div>x</div>", ["unknown-component"]),
    "an element of its own": ("<Details>\n\nx\n\n</Details>", ["unknown-component"]),
    "a fragment": ("<>x</>", ["fragment"]),
    "a sign before a letter": ("a <b", ["parse"]),
    "an address in angles": ("<https://example.com>", ["parse"]),
    "a target in angles": ("[a](<b c>)", ["parse"]),
    "a tag that is never closed": (f'<Tabs id="{ULID}">\n\nx', ["parse", "unexpected-child"]),
    "a tag that is closed elsewhere": (f'- <Tabs id="{ULID}">\n\n</Tabs>', ["parse", "parse", "missing-children"]),
    "an underline across emphasis": ("*<Underline>x*</Underline>", ["parse", "parse"]),
    "a control character": ("a\x07b", ["parse"]),
    "a byte order mark": ("\ufefftext", ["parse"]),
    "brackets without end": ("[a" * 1000, ["parse"]),
}


@pytest.mark.parametrize(("source", "expected"), NODES.values(), ids=NODES.keys())
def test_nodes_outside_the_dialect(source: str, expected: list[str]) -> None:
    assert codes(source) == expected


@pytest.mark.parametrize("depth", [19, 20, 21, 40, 200, 5000])
def test_twenty_levels_are_enough(depth: int) -> None:
    # The paragraph in the innermost quotation is one level more, and its words another.
    expected = [] if depth + 2 <= 20 else ["too-deep"]
    assert codes("> " * depth + "x")[:1] == expected[:1]


def test_what_is_too_deep_does_not_spoil_what_follows() -> None:
    assert codes("> " * 20 + f'<Callout id="{UUID}" type="note">\n\n' + tabs().replace(UUID, ULID[:-1] + "T")) == ["too-deep"]


def test_a_source_is_as_large_as_a_document_and_no_larger() -> None:
    assert codes("x" * 262_144) == []
    assert codes("x" * 262_145) == ["source-too-large"]
    assert codes("é" * 131_073 + "{") == ["source-too-large"]


ATTRIBUTES = {
    "a spread": (callout(attributes=f'id="{ULID}" type="note" {{...x}}'), ["spread-attribute"]),
    "an expression": (callout(attributes='id={x} type="note"'), ["expression-attribute"]),
    "no value": (callout(attributes=f'id="{ULID}" type="note" title'), ["bad-attribute-value"]),
    "an unknown name": (callout(attributes=f'id="{ULID}" type="note" x="y"'), ["unknown-attribute"]),
    "a name twice": (callout(attributes=f'id="{ULID}" type="note" type="tip"'), ["duplicate-attribute"]),
    "a name missing": (callout(attributes=f'id="{ULID}"'), ["missing-attribute"]),
    "a bad id": (callout(attributes='id="callout-1" type="note"'), ["bad-id"]),
    "a number for an id": (callout(attributes='id="17" type="note"'), ["bad-id"]),
    "an id twice": (callout() + "\n" + callout(), ["bad-id"]),
    "a word that is not allowed": (callout(attributes=f'id="{ULID}" type="hint"'), ["bad-attribute-value"]),
    "an empty title": (callout(attributes=f'id="{ULID}" type="note" title=" "'), ["empty-attribute"]),
    "a long title": (callout(attributes=f'id="{ULID}" type="note" title="{"t" * 101}"'), ["attribute-too-long"]),
    "a long label": (tabs(attributes=f'id="{UUID}" label="{"t" * 61}"'), ["attribute-too-long"]),
    "a long reference": (f'<Research id="{"r" * 97}" />', ["attribute-too-long"]),
    "a bad reference": ('<Research id="-r" />', ["bad-reference"]),
    "a wide image": ('<Image src="https://x.y/z" width="4097" />', ["bad-attribute-value"]),
    "a width in words": ('<Image src="https://x.y/z" width="wide" />', ["bad-attribute-value"]),
    "a long quote": (DECISION.replace("Ship", "q" * 500), ["attribute-too-long"]),
    "a long note": (DECISION.replace("It's", "n" * 4001), ["attribute-too-long"]),
    "a long handle": (DECISION.replace("ana", "h" * 81), ["attribute-too-long"]),
    "a long moment": (DECISION.replace("10:00:00Z", "0" * 40), ["attribute-too-long"]),
    "a long thread": (bare_card(card=f' status="open" thread="{"t" * 201}"'), ["attribute-too-long"]),
}


@pytest.mark.parametrize(("source", "expected"), ATTRIBUTES.values(), ids=ATTRIBUTES.keys())
def test_attributes(source: str, expected: list[str]) -> None:
    found = codes(source)
    assert [code for code in found if code not in ("forbidden-node", "parse")] == expected or (
        expected == ["expression-attribute"] and "expression-attribute" in found
    )


def test_lengths_count_characters_not_their_references() -> None:
    assert codes(callout(attributes=f'id="{ULID}" type="note" title="{"&amp;" * 100}"')) == []
    assert codes(callout(attributes=f'id="{ULID}" type="note" title="{"&amp;" * 101}"')) == ["attribute-too-long"]


PLACES = {
    "a flow component among words": (f'x <Callout id="{ULID}" type="note" /> y', ["wrong-kind"]),
    "a flow component on one line": (f'<Callout id="{ULID}" type="note">x</Callout>', ["wrong-kind"]),
    "a text component on its own": ("<Underline>\n\nx\n\n</Underline>", ["wrong-kind"]),
    "columns in a quotation": ("> <Columns>\n> a\n>\n> b\n> </Columns>", ["bad-layout-placement"]),
    "a tab without tabs": (f'<Tab id="{UUID}" label="x">\n\ny\n\n</Tab>', ["bad-parent"]),
    "a note without a decision": ('<Note by="a" text="b" />', ["bad-parent"]),
    "an option without a question": (f'<Option id="{ULID}" label="x" />', ["bad-parent"]),
    "tabs in tabs": (tabs(tabs().replace(ULID, ULID[:-1] + "T").replace(UUID, ULID[:-1] + "S")), ["bad-nesting"]),
    "a callout in a callout": (callout(callout().replace(ULID, UUID)), ["bad-nesting"]),
    "a callout in a tab in a callout": (
        callout(tabs(callout().replace(ULID, ULID[:-1] + "C")).replace(f'Tabs id="{ULID}"', f'Tabs id="{ULID[:-1]}T"')),
        ["bad-nesting"],
    ),
    "words in a research": ('<Research id="r">\n\nx\n\n</Research>', ["unexpected-children"]),
    "words in tabs": (tabs().replace("<Tab ", "words\n<Tab "), ["unexpected-child"]),
    "a callout in a decision": (
        DECISION.replace("\n</Dec", f'\n<Callout id="{UUID}" type="note" />\n</Dec'),
        ["bad-nesting", "unexpected-child"],
    ),
    "one column": ("<Columns>\n\none\n\n</Columns>", ["bad-column-count"]),
    "three columns": ("<Columns>\n\na\n\nb\n\nc\n\n</Columns>", ["bad-column-count"]),
    "a decision without notes": (f'<Decision id="{ULID}" quote="q" by="b" at="a" />', ["missing-children"]),
    "tabs without a tab": (f'<Tabs id="{ULID}" />', ["missing-children"]),
    "an empty questionnaire": (f'<Questionnaire id="{ULID}" />', ["missing-children"]),
}


@pytest.mark.parametrize(("source", "expected"), PLACES.values(), ids=PLACES.keys())
def test_places(source: str, expected: list[str]) -> None:
    assert sorted(code for code in codes(source) if code != "parse") == expected


CARDS = {
    "two choices where one is asked": (card(inside=f'<Answer value="x" choices="{A} {B}" />'), ["too-many-answer-choices"]),
    "a choice twice": (card('multiple="true"', f'<Answer value="x" choices="{A} {A}" />'), ["duplicate-answer-choice"]),
    "a choice that is no option": (card(inside=f'<Answer value="x" choices="{UUID}" />'), ["unknown-answer-choice"]),
    "two previous answers": (
        card(inside=PREVIOUS.format('value="x"') + "\n" + PREVIOUS.format('value="y"')),
        ["duplicate-previous"],
    ),
    "a previous answer of both kinds": (
        card(inside=PREVIOUS.format(f'value="x" choices="{A}"')),
        ["invalid-previous-answer"],
    ),
    "a previous answer of no kind": (card(inside=PREVIOUS.format("")), ["invalid-previous-answer"]),
    "previous choices": (
        card(inside=PREVIOUS.format(f'choices="{A} {A} x"')),
        ["duplicate-previous-choice", "too-many-previous-choices", "unknown-previous-choice"],
    ),
    "a bare question of a card that was decided": (bare_card(card=' status="decided"'), ["missing-children"]),
    "a bare question of a thread that expired": (bare_card(card=' thread="t" status="expired"'), ["missing-children"]),
    "a bare question of a thread with many choices": (bare_card("true", ' thread="t" status="open"'), ["missing-children"]),
    "a status nobody knows": (bare_card(card=' status="lost"'), ["bad-attribute-value", "missing-children"]),
}


@pytest.mark.parametrize(("source", "expected"), CARDS.values(), ids=CARDS.keys())
def test_questions_and_answers_agree(source: str, expected: list[str]) -> None:
    assert sorted(codes(source)) == expected


def test_a_card_has_ten_questions_of_twenty_options_at_most() -> None:
    option = '<Option id="{}" label="x" />\n'
    ids = iter(f"{number:026}" for number in range(1000))
    options = "".join(option.format(next(ids)) for _ in range(21))
    assert codes(card(inside=options)) == ["unexpected-children"]
    question = '<Question id="{}" header="" prompt="" multiple="false" />\n'
    questions = "".join(question.format(next(ids)) for _ in range(11))
    assert codes(f'<Questionnaire id="{UUID}">\n{questions}</Questionnaire>') == ["unexpected-children"]


LINKS = {
    "https://example.com/a?b=c#d": None,
    "mailto:a@b.c": None,
    "docs/page.md": None,
    "#part": None,
    "/root": None,
    "a:b/c:d": "bad-link-protocol",
    "http://example.com": "bad-link-protocol",
    "javascript:alert(1)": "bad-link-protocol",
    "JavaScript:alert(1)": "bad-link-protocol",
    "data:text/html,x": "bad-link-protocol",
    "//example.com": "bad-link",
    "\\\\\\\\host": "bad-link",
    "a\\\\b": "bad-link",
    "https://": "bad-link",
    "https://a\u200bb.c": "bad-link",
    "https://a\u202eb.c": "bad-link",
    "&#32;https://a.b": "bad-link",
    "java&#9;script:alert(1)": "bad-link",
    "java&#32;script:x": "bad-link",
}


@pytest.mark.parametrize(("url", "code"), LINKS.items())
def test_links_lead_where_they_say(url: str, code: str | None) -> None:
    assert codes(f"[text]({url})") == ([code] if code else [])


IMAGES = {
    "https://example.com/i.png": None,
    "": "bad-image",
    "i.png": "bad-image-protocol",
    "http://example.com/i.png": "bad-image-protocol",
    "data:image/png;base64,x": "bad-image-protocol",
    "https://": "bad-image",
    "https://a\u200bb.c/i.png": "bad-image",
}


@pytest.mark.parametrize(("url", "code"), IMAGES.items())
def test_images_come_from_the_web(url: str, code: str | None) -> None:
    assert codes(f"![text]({url})") == ([code] if code else [])
    if url:
        assert codes(f'<Image src="{url}" />') == ([code] if code else [])


def test_a_hundred_images_are_enough() -> None:
    image = "![a](https://example.com/i.png)\n\n"
    assert codes(image * 100) == []
    assert codes(image * 100 + '<Image src="https://example.com/i.png" />') == ["too-many-images"]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"), [(100, 20, []), (101, 1, ["table-too-tall"]), (2, 21, ["table-too-wide"])]
)
def test_tables_fit_a_screen(rows: int, columns: int, expected: list[str]) -> None:
    assert codes("|a" * columns + "|\n" + "|-" * columns + "|\n" + ("|b" * columns + "|\n") * (rows - 1)) == expected


def test_footnotes_are_named_by_ids() -> None:
    assert codes(f"a[^{ULID.lower()}]\n\n[^{ULID.lower()}]: b") == []
    assert codes("a[^1]\n\n[^1]: b") == ["bad-footnote-id", "bad-footnote-id"]
    assert codes("a[^1]") == []  # without its definition it is text


def test_issues_say_where_and_come_in_the_order_of_the_text() -> None:
    source = "# fine\n\n" + tabs("{x}\n\n- [a](http://b)").replace("One", "") + "\n<Nobody />\n"
    found = issues_of(source)
    assert [(issue.code, issue.path) for issue in found] == [
        ("empty-attribute", "root > Tabs[1] > Tab[0]"),
        ("forbidden-node", "root > Tabs[1] > Tab[0] > paragraph[0]"),
        ("bad-link-protocol", "root > Tabs[1] > Tab[0] > list[1] > listItem[0] > paragraph[0] > link[0]"),
        ("unknown-component", "root > Nobody[2]"),
    ]
    assert [source[issue.offset or 0 :].split("\n")[0][:6] for issue in found] == ["<Tab i", "{x}", "- [a](", "<Nobod"]


@given(hostile)
def test_all_issues_are_found_in_any_text_and_none_quotes_it(text: str) -> None:
    for issue in issues_of(text + "\n\nSECRET{prose} <Secret$secret/> [x](secret:secret)"):
        assert "secret" not in issue.message.lower()
        assert "secret$" not in issue.path.lower()


@given(st.text())
def test_no_text_is_too_strange_to_be_judged(text: str) -> None:
    issues_of(text)


def test_the_tables_of_components_agree() -> None:
    assert COMPONENTS.keys() == FLOW | TEXT
    assert PROJECTIONS <= FLOW
    for component in COMPONENTS.values():
        for names in (component.parents or frozenset(), component.children or frozenset(), component.never_holds):
            assert names <= COMPONENTS.keys() | {"root"}
