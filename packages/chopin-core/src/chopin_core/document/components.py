"""The components a document may use, and where each may stand. What their attributes must say is the dialect's business."""

from __future__ import annotations

from typing import Final

from chopin_core.document.tags import Tag

FLOW: Final = frozenset(
    {
        "Answer",
        "Callout",
        "Columns",
        "Decision",
        "Image",
        "Note",
        "Option",
        "Previous",
        "Question",
        "Questionnaire",
        "Research",
        "Tab",
        "Tabs",
    }
)
"""May stand on lines of their own."""

TEXT: Final = frozenset({"Image", "Underline"})
"""May stand among words."""

PROJECTIONS: Final = frozenset({"Decision", "Questionnaire", "Research"})
"""Show a record; only the server writes them."""


def stands_alone(tag: Tag) -> bool:
    """Whether the tag may stand on a line of its own as it is, with nothing in it that MDX would evaluate."""
    return tag.name in FLOW and tag.plain
