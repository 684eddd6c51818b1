"""What a questionnaire's questions, options and answers must agree on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from chopin_core.document.dialect.attributes import value_of
from chopin_core.document.dialect.tree import Node
from chopin_core.errors import SourceIssue

MOST_QUESTIONS: Final = 10
MOST_OPTIONS: Final = 20
MOST_CHOICES: Final = 20
_THREADED: Final = frozenset({"open", "reopened", "discarded"})
_UNASKED: Final = frozenset({None, "expired"})


def check_questionnaire(node: Node) -> Iterator[SourceIssue]:
    questions = [child for child in node.children if child.is_component("Question")]
    if len(questions) > MOST_QUESTIONS:
        yield node.issue("unexpected-children", f"has {len(questions)} questions; {MOST_QUESTIONS} are allowed")


def check_question(node: Node) -> Iterator[SourceIssue]:
    options = [child for child in node.children if child.is_component("Option")]
    if len(options) > MOST_OPTIONS:
        yield node.issue("unexpected-children", f"has {len(options)} options; {MOST_OPTIONS} are allowed")
    previous = [child for child in node.children if child.is_component("Previous")]
    if len(previous) > 1:
        yield node.issue("duplicate-previous", f"has {len(previous)} previous answers; one is allowed")
    if not node.children and not node.cut and not _may_be_bare(node):
        yield node.issue("missing-children", "has neither options nor an answer")
    known = {value_of(option, "id") for option in options}
    single = value_of(node, "multiple") == "false"
    for child in node.children:
        if child.is_component("Answer"):
            yield from _check_choices(child, known, single, "answer-choice")
        elif child.is_component("Previous"):
            yield from _check_choices(child, known, single, "previous-choice")
            if (value_of(child, "choices") is None) == (value_of(child, "value") is None):
                yield child.issue("invalid-previous-answer", "must have either choices or value")


def _may_be_bare(question: Node) -> bool:
    """An open card of a thread whose options are yet to come, or a question that was only ever answered in words."""
    card = question.parent
    if card is None or not card.is_component("Questionnaire"):
        return True  # the missing card is the issue
    status = value_of(card, "status")
    if value_of(card, "thread") is not None:
        return status in _THREADED and value_of(question, "multiple") == "false"
    return status in _UNASKED


def _check_choices(node: Node, known: set[str | None], single: bool, kind: str) -> Iterator[SourceIssue]:
    choices = (value_of(node, "choices") or "").split()
    most = 1 if single else MOST_CHOICES
    if len(choices) > most:
        yield node.issue(f"too-many-{kind}s", f"has {len(choices)} choices; {most} are allowed")
    if len(set(choices)) < len(choices):
        yield node.issue(f"duplicate-{kind}", "names an option twice")
    if not known.issuperset(choices):
        yield node.issue(f"unknown-{kind}", "names an option that the question does not have")
