"""What footnotes are called."""

from __future__ import annotations

from collections.abc import Iterator

from chopin_core.document.dialect.attributes import is_id
from chopin_core.document.dialect.tree import Node
from chopin_core.errors import SourceIssue


def check_footnote(node: Node) -> Iterator[SourceIssue]:
    if not is_id(node.label):
        yield node.issue("bad-footnote-id", "must be named by a UUID or a ULID")
