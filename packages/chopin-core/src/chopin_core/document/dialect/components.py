"""What each component is made of: attributes, where it may stand, and what it may hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen(kw_only=True)
class Attribute:
    """
    ``shape`` names a rule of :mod:`~chopin_core.document.dialect.attributes`; ``words`` are all that may be said; ``empty``
    is whether nothing may be said.
    """

    required: bool = False
    empty: bool = False
    shape: str | None = None
    longest: int | None = None
    words: frozenset[str] | None = None


@attrs.frozen(kw_only=True)
class Component:
    """
    ``parents`` is None where any will do. ``children`` names the only components it may hold, and that it holds nothing
    else; None means any blocks. ``never_holds`` reaches through all levels.
    """

    attributes: Mapping[str, Attribute] = attrs.field(factory=dict)
    parents: frozenset[str] | None = None
    children: frozenset[str] | None = None
    needs_children: bool = False
    never_holds: frozenset[str] = frozenset()


_ID: Final = Attribute(required=True, shape="id")
_HANDLE: Final = Attribute(longest=80)
_MOMENT: Final = Attribute(longest=40)
_BY: Final = attrs.evolve(_HANDLE, required=True)
_AT: Final = attrs.evolve(_MOMENT, required=True)
_NOTHING: Final[frozenset[str]] = frozenset()

COMPONENTS: Final[Mapping[str, Component]] = {
    "Questionnaire": Component(
        attributes={
            "id": _ID,
            "visual": Attribute(),
            "thread": Attribute(longest=200),
            "status": Attribute(words=frozenset({"open", "decided", "reopened", "discarded", "expired"})),
            "by": _HANDLE,
            "at": _MOMENT,
        },
        children=frozenset({"Question"}),
        needs_children=True,
        never_holds=frozenset({"Questionnaire", "Tabs", "Callout"}),
    ),
    "Question": Component(
        attributes={
            "id": _ID,
            "header": Attribute(required=True, empty=True),
            "prompt": Attribute(required=True, empty=True),
            "multiple": Attribute(required=True, words=frozenset({"true", "false"})),
        },
        parents=frozenset({"Questionnaire"}),
        children=frozenset({"Option", "Answer", "Previous"}),
    ),
    "Option": Component(
        attributes={
            "id": _ID,
            "label": Attribute(required=True, empty=True),
            "description": Attribute(empty=True),
        },
        parents=frozenset({"Question"}),
        children=_NOTHING,
    ),
    "Answer": Component(
        attributes={
            "value": Attribute(required=True, empty=True),
            "choices": Attribute(empty=True, longest=600),
        },
        parents=frozenset({"Question"}),
        children=_NOTHING,
    ),
    "Previous": Component(
        attributes={
            "by": _BY,
            "at": _AT,
            "choices": Attribute(longest=600),
            "value": Attribute(longest=4000),
        },
        parents=frozenset({"Question"}),
        children=_NOTHING,
    ),
    "Decision": Component(
        attributes={"id": _ID, "quote": Attribute(required=True, longest=500), "by": _BY, "at": _AT},
        children=frozenset({"Note"}),
        needs_children=True,
        never_holds=frozenset({"Questionnaire", "Decision", "Tabs", "Callout"}),
    ),
    "Note": Component(
        attributes={"by": _BY, "text": Attribute(required=True, longest=4000)},
        parents=frozenset({"Decision"}),
        children=_NOTHING,
    ),
    "Tabs": Component(
        attributes={"id": _ID},
        children=frozenset({"Tab"}),
        needs_children=True,
        never_holds=frozenset({"Tabs"}),
    ),
    "Tab": Component(
        attributes={"id": _ID, "label": Attribute(required=True, longest=60)},
        parents=frozenset({"Tabs"}),
    ),
    "Callout": Component(
        attributes={
            "id": _ID,
            "type": Attribute(required=True, words=frozenset({"note", "tip", "important", "warning", "danger"})),
            "title": Attribute(longest=100),
        },
        never_holds=frozenset({"Callout"}),
    ),
    "Columns": Component(parents=frozenset({"root"})),
    "Research": Component(
        attributes={"id": Attribute(required=True, shape="reference", longest=96)},
        children=_NOTHING,
    ),
    "Image": Component(
        attributes={
            "src": Attribute(required=True),
            "alt": Attribute(empty=True),
            "title": Attribute(),
            "width": Attribute(shape="pixels"),
            "height": Attribute(shape="pixels"),
        },
        children=_NOTHING,
    ),
    "Underline": Component(),
}
