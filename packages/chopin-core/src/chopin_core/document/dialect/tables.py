"""How large a table may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chopin_core.document.dialect.tree import Node
from chopin_core.errors import SourceIssue

MOST_ROWS: Final = 100
MOST_COLUMNS: Final = 20


def check_table(node: Node) -> Iterator[SourceIssue]:
    rows = len(node.children)
    columns = max((len(row.children) for row in node.children), default=0)
    if rows > MOST_ROWS:
        yield node.issue("table-too-tall", f"has {rows} rows; {MOST_ROWS} are allowed")
    if columns > MOST_COLUMNS:
        yield node.issue("table-too-wide", f"has {columns} columns; {MOST_COLUMNS} are allowed")
