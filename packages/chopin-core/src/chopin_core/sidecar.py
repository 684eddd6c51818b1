"""
The durable record beside a document: a small head and named sections, kept and restored as one snapshot.

Storage keeps a :class:`SidecarRecord`; it looks inside only to count unanswered decisions. :func:`restore` turns a record
into a :class:`Sidecar` that the rest of the core may trust, and :meth:`Sidecar.record` turns it back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import attrs

from chopin_core.counters import LARGEST, DocumentCounters, DocumentSequence, PlanRevision
from chopin_core.errors import CorruptRecord, InvalidField
from chopin_core.jsonvalue import Json

VERSION: Final = 1

SECTION_NAME = re.compile(r"[a-z][A-Za-z]{0,63}(?:\.[A-Za-z0-9_-]{1,128})?")
"""
A family, or one member of it behind a dot (``mcpUpdates.9f86d0…``). Members are sections of their own so that adding one
does not rewrite the others.
"""


def family_of(section: str) -> str:
    return section.partition(".")[0]


def _names(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    for name in value:
        if not isinstance(name, str) or not SECTION_NAME.fullmatch(name):
            raise InvalidField("section", "has no valid name")


def _copied(sections: Mapping[str, Json]) -> Mapping[str, Json]:
    return MappingProxyType(dict(sections))


@attrs.frozen(kw_only=True)
class SidecarRecord:
    """A whole sidecar as storage keeps it. Section names match :data:`SECTION_NAME`."""

    head: Json
    sections: Mapping[str, Json] = attrs.field(factory=dict, converter=_copied, validator=_names)


@attrs.frozen(kw_only=True)
class SidecarPatch:
    """What one commit changes: the new head, the sections to write, and the names of those to drop."""

    head: Json
    sections: Mapping[str, Json] = attrs.field(factory=dict, converter=_copied, validator=_names)
    removed: frozenset[str] = attrs.field(default=frozenset(), validator=_names)

    def applied_to(self, record: SidecarRecord | None) -> SidecarRecord:
        """The record after the patch; the same outcome whether an adapter patches rows or rewrites the whole."""
        kept = {} if record is None else {n: v for n, v in record.sections.items() if n not in self.removed}
        return SidecarRecord(head=self.head, sections={**kept, **self.sections})


def unanswered_decisions(questions: Json) -> int:
    """
    How many questions of the ``questions`` section wait for an answer.

    Anything but a list counts 0; a ``reopened`` record counts all its questions, an ``open`` one those without an answer.
    Source: storage spec §2.4, "Counting rule".
    """
    if not isinstance(questions, list | tuple):
        return 0
    return sum(_unanswered(record) for record in questions if isinstance(record, Mapping))


def _unanswered(record: Mapping[str, Json]) -> int:
    definition = record.get("definition")
    questions = definition.get("questions") if isinstance(definition, Mapping) else None
    if not isinstance(questions, list | tuple):
        return 0
    match record.get("status"):
        case "reopened":
            return len(questions)
        case "open":
            answers = record.get("answers")
            given = answers if isinstance(answers, Mapping) else {}
            return sum(_question_id(question) not in given for question in questions)
        case _:
            return 0


def _question_id(question: Json) -> str:
    identity = question.get("id") if isinstance(question, Mapping) else None
    return identity if isinstance(identity, str) else ""


@attrs.frozen(kw_only=True)
class Sidecar:
    """A restored sidecar: its counters, and the sections this version knows."""

    counters: DocumentCounters = attrs.field(factory=DocumentCounters)
    sections: Mapping[str, Json] = attrs.field(factory=dict, converter=_copied, validator=_names)

    def record(self) -> SidecarRecord:
        return SidecarRecord(head=_head(self.counters), sections=self.sections)

    def patched(self, counters: DocumentCounters, sections: Mapping[str, Json] | None = None) -> tuple[Sidecar, SidecarPatch]:
        """The sidecar after a change, and the patch that brings storage there."""
        written = dict(sections or {})
        after = Sidecar(counters=counters, sections={**self.sections, **written})
        return after, SidecarPatch(head=_head(counters), sections=written)


def _head(counters: DocumentCounters) -> Json:
    return {"version": VERSION, "documentSeq": counters.sequence, "revision": counters.plan}


# Restoration

_FAMILIES: Final = frozenset({"creation", "mcpUpdates"})
_OPTIONAL: Final = frozenset({"graph"})
"""Sections that are dropped, not fatal, when their shape is invalid (seeds/storage.md, "State model")."""


def restore(record: SidecarRecord | None) -> Sidecar:
    """
    A record as a sidecar the core may trust; None (nothing was ever written) is an empty one.

    The version, the counters and the names are checked strictly, and former field shapes are converted: a ``brief`` and an
    ``origin`` side by side become ``creation``. An invalid optional ``graph`` is dropped.

    Raises:
        CorruptRecord: anything else does not fit; the channel must not be opened.
    """
    if record is None:
        return Sidecar()
    return Sidecar(counters=_counters(record.head), sections=_sections(record.sections))


def _counters(head: Json) -> DocumentCounters:
    if not isinstance(head, Mapping) or set(head) != {"version", "documentSeq", "revision"}:
        raise CorruptRecord("sidecar head", "does not have exactly version, documentSeq and revision")
    if head["version"] != VERSION:
        raise CorruptRecord("sidecar head", "has an unknown version")
    sequence, plan = head["documentSeq"], head["revision"]
    return DocumentCounters(
        sequence=DocumentSequence(_count(sequence, "documentSeq")), plan=PlanRevision(_count(plan, "revision"))
    )


def _count(value: Json, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise CorruptRecord("sidecar head", f"{name} is not a counter")
    return value


def _sections(stored: Mapping[str, Json]) -> dict[str, Json]:
    sections = dict(stored)
    if "brief" in sections and "origin" in sections and "creation" not in sections:
        sections["creation"] = {"brief": sections.pop("brief"), "origin": sections.pop("origin")}
    for name in _OPTIONAL & sections.keys():
        if not isinstance(sections[name], Mapping):
            del sections[name]
    for name, value in sections.items():
        family = family_of(name)
        if family not in _FAMILIES | _OPTIONAL:
            raise CorruptRecord("sidecar", f"section {family} is unknown to this version")
        if not isinstance(value, Mapping):
            raise CorruptRecord("sidecar", f"section {family} has the wrong shape")
    creation = sections.get("creation")
    if isinstance(creation, Mapping) and set(creation) != {"brief", "origin"}:
        raise CorruptRecord("sidecar", "section creation does not have exactly brief and origin")
    return sections
