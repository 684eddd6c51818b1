"""The tree of a source: what MDX would call its nodes, with the components as nodes around what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
from markdown_it.token import Token

from chopin_core.document.dialect.phrasing import parse_phrasing, too_many_brackets
from chopin_core.document.markdown import parse_blocks
from chopin_core.document.tags import Tag, TagKind
from chopin_core.errors import SourceIssue

COMPONENT: Final = "component"
DEEPEST: Final = 20

_KINDS: Final = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "listItem",
    "blockquote_open": "blockquote",
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "table_open": "table",
    "tr_open": "tableRow",
    "th_open": "tableCell",
    "td_open": "tableCell",
    "footnote_reference_open": "footnoteDefinition",
    "strong_open": "strong",
    "em_open": "emphasis",
    "s_open": "delete",
    "link_open": "link",
    "fence": "code",
    "math": "math",
    "hr": "thematicBreak",
    "text": "text",
    "text_special": "text",
    "softbreak": "text",
    "hardbreak": "break",
    "code_inline": "inlineCode",
    "math_inline": "inlineMath",
    "image": "image",
    "footnote_ref": "footnoteReference",
}
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,39}")
_TRANSPARENT: Final = frozenset({"thead_open", "thead_close", "tbody_open", "tbody_close"})


@attrs.define(eq=False)
class Node:
    """
    ``kind`` is a name of MDAST, or :data:`COMPONENT`. ``place`` is its index among its siblings, ``depth`` 0 at the root.

    ``offset`` is the start of the block it stands in. ``url`` belongs to links and images, ``label`` to footnotes. ``cut``
    marks a node whose children lie too deep to be kept.
    """

    kind: str
    offset: int
    parent: Node | None = attrs.field(default=None, repr=False)
    place: int = 0
    depth: int = 0
    tag: Tag | None = None
    among_words: bool = False
    url: str = ""
    label: str = ""
    cut: bool = False
    children: list[Node] = attrs.field(factory=list)

    @property
    def name(self) -> str:
        return self.kind if self.tag is None else shown(self.tag.name)

    @property
    def path(self) -> str:
        steps: list[str] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            steps.append(f"{node.name}[{node.place}]")
            node = node.parent
        return " > ".join(("root", *reversed(steps)))

    def issue(self, code: str, message: str) -> SourceIssue:
        return SourceIssue(code=code, message=message, path=self.path, offset=self.offset)

    def is_component(self, *names: str) -> bool:
        return self.kind == COMPONENT and self.name in names

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


def shown(name: str) -> str:
    """A name that a source came up with, if it is one that a log may hold."""
    return name if _NAME.fullmatch(name) else "(name)"


def read(source: str) -> tuple[Node, list[SourceIssue]]:
    """The tree of a source, and what keeps parts of it out of the tree."""
    builder = _Builder(source)
    return builder.root, builder.issues


class _Builder:
    def __init__(self, source: str) -> None:
        self.root = Node("root", 0)
        self.issues: list[SourceIssue] = []
        self._open = [self.root]
        self._starts = [0]
        for line in source.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._env: dict[str, Any] = {}
        self._offset = 0
        self._ignored = 0
        self._add(parse_blocks(source, lambda tag: True, self._env), among_words=False)
        self._close_until(self.root)
        self._definitions()

    def _definitions(self) -> None:
        for found in (*self._env.get("references", {}).values(), *self._env.get("duplicate_refs", ())):
            node = Node("definition", self._starts[found["map"][0]], self.root, len(self.root.children), 1)
            self.issues.append(node.issue("forbidden-node", "definition"))

    def _add(self, tokens: Sequence[Token], *, among_words: bool) -> None:
        floor = self._open[-1]
        for token in tokens:
            if token.map is not None:
                self._offset = self._starts[token.map[0]]
            if token.type in _TRANSPARENT:
                continue
            if token.nesting == -1:
                self._leave()
            elif token.type in ("tag", "tags"):
                for tag in (token.meta["tag"],) if among_words else token.meta["tags"]:
                    self._tag(tag, among_words)
            elif token.type == "inline":
                self._words(token)
            elif token.type in ("brace", "angle"):
                self._bare(token)
            else:
                self._enter(token, among_words)
        self._close_until(floor)

    def _enter(self, token: Token, among_words: bool) -> None:
        node = self._append(Node(_KINDS.get(token.type, token.type), self._offset, among_words=among_words))
        node.url = str(token.attrGet("href") or token.attrGet("src") or "")
        node.label = str(token.meta.get("label", ""))
        if token.nesting == 1:
            self._open.append(node)

    def _append(self, node: Node) -> Node:
        parent = self._open[-1]
        node.parent, node.place, node.depth = parent, len(parent.children), parent.depth + 1
        if node.depth <= DEEPEST:
            parent.children.append(node)
        elif parent.depth == DEEPEST and not parent.cut:
            parent.cut = True
            self.issues.append(parent.issue("too-deep", f"nests more than {DEEPEST} levels"))
        return node

    def _words(self, token: Token) -> None:
        if too_many_brackets(token.content):
            self.issues.append(self._open[-1].issue("parse", "has too many brackets that begin no link"))
            return
        self._add(parse_phrasing(token.content, self._env), among_words=True)

    def _bare(self, token: Token) -> None:
        if token.type == "brace":
            self.issues.append(self._open[-1].issue("forbidden-node", "expression: write \\{ for a brace"))
        elif token.content == "<!":
            self.issues.append(self._open[-1].issue("forbidden-node", "html"))
        elif token.content != "< ":
            self.issues.append(self._open[-1].issue("parse", "a < that begins no tag: write \\< for the sign"))

    def _tag(self, tag: Tag, among_words: bool) -> None:
        if tag.kind is TagKind.CLOSE and self._ignored:
            self._ignored -= 1
            return
        if tag.kind is TagKind.CLOSE:
            opened = next((node for node in reversed(self._open) if node.tag is None or node.tag.name == tag.name), self.root)
            if opened.tag is None or opened.among_words != among_words:
                self.issues.append(self._open[-1].issue("parse", f"</{shown(tag.name)}> closes nothing here"))
                return
            self._close_until(opened)
            self._open.pop()
            return
        node = self._append(Node(COMPONENT, self._offset, tag=tag, among_words=among_words))
        if tag.kind is TagKind.OPEN and node.depth <= DEEPEST:
            self._open.append(node)
        elif tag.kind is TagKind.OPEN:
            self._ignored += 1

    def _leave(self) -> None:
        """The container ends, and with it the components that were left open in it."""
        self._ignored = 0
        container = next(node for node in reversed(self._open) if node.kind != COMPONENT)
        self._close_until(container)
        self._open.pop()

    def _close_until(self, node: Node) -> None:
        while self._open[-1] is not node:
            left = self._open.pop()
            self.issues.append(left.issue("parse", f"<{left.name}> is not closed where it was opened"))
