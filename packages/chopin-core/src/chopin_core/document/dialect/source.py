"""All that keeps a source from being a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from chopin_core.document.canonical import canonical
from chopin_core.document.dialect.attributes import check_attributes, value_of
from chopin_core.document.dialect.components import COMPONENTS
from chopin_core.document.dialect.footnotes import check_footnote
from chopin_core.document.dialect.links import check_image, check_image_count, check_link
from chopin_core.document.dialect.placement import check_children, check_placement
from chopin_core.document.dialect.questionnaire import check_question, check_questionnaire
from chopin_core.document.dialect.tables import check_table
from chopin_core.document.dialect.tree import COMPONENT, Node, read
from chopin_core.document.validity import check_text
from chopin_core.errors import SourceIssue, UpdateRefused

_ALLOWED: Final = frozenset(
    {"root", "paragraph", "heading", "thematicBreak", "blockquote", "list", "listItem", "code", "table", "tableRow"}
    | {"tableCell", "text", "strong", "emphasis", "delete", "inlineCode", "break", "link", "image", "math", "inlineMath"}
    | {"footnoteReference", "footnoteDefinition", COMPONENT}
)
MODULE: Final = "import or export at the start of a block: indent it to mean the word"
_RULES: Final[Mapping[str, Callable[[Node], Iterator[SourceIssue]]]] = {
    "link": check_link,
    "image": check_image,
    "table": check_table,
    "footnoteReference": check_footnote,
    "footnoteDefinition": check_footnote,
}
_COMPONENT_RULES: Final[Mapping[str, Callable[[Node], Iterator[SourceIssue]]]] = {
    "Questionnaire": check_questionnaire,
    "Question": check_question,
    "Image": check_image,
}


def issues_of(source: str) -> tuple[SourceIssue, ...]:
    """
    Everything the dialect has against a source with plain line ends, in the order of the text; nothing if it is a document.

    A source without issues is its own canonical form, but for spare newlines at its end and ``<`` before a space.
    """
    try:
        check_text(source)
    except UpdateRefused as refused:
        code = refused.reason if refused.reason == "source-too-large" else "parse"
        return (SourceIssue(code=code, message=f"the source is refused: {refused.reason}"),)
    if source.startswith("\ufeff"):
        return (SourceIssue(code="parse", message="the source begins with a byte order mark"),)
    root, issues = read(source)
    nodes = list(_walk(root))
    issues += [issue for node in nodes for issue in _check(node)]
    issues += _check_ids(nodes)
    issues += check_image_count(root, sum(node.kind == "image" or node.is_component("Image") for node in nodes))
    issues += [issue for issue in _unescaped(source) if not issues or issue.message == MODULE]
    return tuple(sorted(issues, key=lambda issue: issue.offset or 0))


def _walk(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _check(node: Node) -> Iterator[SourceIssue]:
    if node.kind not in _ALLOWED:
        yield node.issue("unknown-node", f"{node.kind} is not part of the dialect")
    elif node.tag is None:
        yield from _RULES.get(node.kind, _nothing)(node)
    elif not node.tag.name:
        yield node.issue("fragment", "a fragment is no component")
    elif node.name not in COMPONENTS:
        yield node.issue("unknown-component", f"{node.name} is no component of a document")
    else:
        component = COMPONENTS[node.name]
        yield from check_placement(node, component)
        yield from check_attributes(node, component)
        yield from check_children(node, component)
        yield from _COMPONENT_RULES.get(node.name, _nothing)(node)


def _nothing(node: Node) -> Iterator[SourceIssue]:
    return iter(())


def _check_ids(nodes: Iterable[Node]) -> Iterator[SourceIssue]:
    seen: set[str] = set()
    for node in nodes:
        own = value_of(node, "id")
        if own is not None and own in seen:
            yield node.issue("bad-id", "has the id of another component")
        elif own is not None:
            seen.add(own)


def _unescaped(source: str) -> Iterator[SourceIssue]:
    """What the canonical form would escape: the safety net below all other rules, and the only one for modules."""
    escaped = canonical(source)
    if escaped.rstrip("\n") == source.rstrip("\n"):
        return
    at = 0
    for offset, character in enumerate(source.rstrip("\n")):
        if escaped[at] != character:
            if not source.startswith("< ", offset):
                yield _needing_escape(source, offset)
            at += len("\\") if escaped[at] == "\\" else len("&lt;") - 1
        at += 1


def _needing_escape(source: str, offset: int) -> SourceIssue:
    match source[offset]:
        case "<":
            return SourceIssue(code="parse", message="a < that begins no component: write \\< for the sign", offset=offset)
        case "{":
            return SourceIssue(code="forbidden-node", message="expression: write \\{ for a brace", offset=offset)
        case _:
            return SourceIssue(code="forbidden-node", message=MODULE, offset=offset)
