"""The top-level blocks of a text."""

from __future__ import annotations

from hypothesis import given

from chopin_core.document.blocks import LONGEST_PREVIEW, blocks
from chopin_core.document.canonical import canonical, source_hash

from .sources import DECISION, DOCUMENT, RESEARCH, hostile


def kinds(text: str) -> list[str]:
    return [block.kind for block in blocks(text)]


def test_an_empty_text_has_no_blocks() -> None:
    assert blocks("") == ()
    assert blocks("\n \n\t\n") == ()


def test_every_kind_is_told_by_its_name() -> None:
    assert kinds(DOCUMENT) == [
        *("heading", "paragraph", "list", "list", "blockquote", "table", "code", "math", "paragraph", "footnoteDefinition"),
        *("Callout", "Tabs", "paragraph"),
    ]
    assert kinds(f"---\n\n{DECISION}\n{RESEARCH}\ntext\n\n[a]: b\n") == [
        *("thematicBreak", "Decision", "Research", "paragraph", "definition")
    ]


def test_a_component_is_one_block_with_all_it_holds() -> None:
    text = 'a\n\n<Callout id="x" type="note">\n\n# h\n\n- b\n\n</Callout>\nc\n'
    assert [text[block.start : block.end] for block in blocks(text)] == ["a", text[3:-3], "c"]


def test_components_that_share_a_line_share_a_block() -> None:
    assert kinds("<Tabs><Tab>\na\n</Tab></Tabs>\n\nb") == ["Tabs", "paragraph"]


def test_a_component_that_is_not_whole_is_words() -> None:
    assert kinds("<Callout>\n\nnever closed") == ["paragraph", "paragraph"]


def test_the_preview_is_short_and_on_one_line() -> None:
    (block,) = blocks("word \n" * 100)
    assert block.preview == ("word " * 24)[:LONGEST_PREVIEW].strip() or len(block.preview) == LONGEST_PREVIEW
    assert "\n" not in block.preview


def test_the_digest_is_of_the_block_alone() -> None:
    first, second = blocks("same {text}\n\nsame {text}\n")
    assert first.digest == second.digest == source_hash(canonical("same {text}"))
    assert first.digest != blocks("other {text}")[0].digest


@given(hostile)
def test_blocks_cover_all_words_in_order_without_overlap(text: str) -> None:
    text = text.replace("\r", "").replace("\0", "")
    done = 0
    for index, block in enumerate(blocks(text)):
        assert block.index == index
        assert text[done : block.start].strip(" \t\n") == ""
        assert block.start == 0 or text[block.start - 1] == "\n"
        assert text[block.end : block.end + 1] in ("\n", "")
        assert block.start < block.end
        done = block.end
    assert text[done:].strip(" \t\n") == ""
