"""Where components stand and what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chopin_core.document.components import FLOW, TEXT
from chopin_core.document.dialect.components import COMPONENTS, Component
from chopin_core.document.dialect.tree import Node
from chopin_core.errors import SourceIssue

COLUMNS: Final = 2
_FORBIDDING: Final = {
    name: tuple(holder for holder, component in COMPONENTS.items() if name in component.never_holds) for name in COMPONENTS
}


def check_placement(node: Node, component: Component) -> Iterator[SourceIssue]:
    if node.among_words and node.name not in TEXT:
        yield node.issue("wrong-kind", "must stand on lines of its own")
    elif not node.among_words and node.name not in FLOW:
        yield node.issue("wrong-kind", "must stand among words")
    if component.parents is not None and (node.parent is None or node.parent.name not in component.parents):
        code = "bad-layout-placement" if node.name == "Columns" else "bad-parent"
        yield node.issue(code, f"may only stand in {' or '.join(sorted(component.parents))}")
    for ancestor in node.ancestors():
        if ancestor.is_component(*_FORBIDDING[node.name]):
            yield node.issue("bad-nesting", f"may not stand in {ancestor.name}")
            break


def check_children(node: Node, component: Component) -> Iterator[SourceIssue]:
    if node.cut:
        return
    if component.children is not None:
        strangers = [child for child in node.children if not child.is_component(*component.children)]
        if strangers and not component.children:
            yield node.issue("unexpected-children", "may hold nothing")
        elif component.children:
            for child in strangers:
                yield child.issue("unexpected-child", f"{node.name} may only hold {' or '.join(sorted(component.children))}")
    if component.needs_children and not node.children:
        yield node.issue("missing-children", "holds nothing")
    if node.name == "Columns" and len(node.children) != COLUMNS:
        yield node.issue("bad-column-count", f"has {len(node.children)} columns; it must have {COLUMNS}")
