"""What of a sidecar is conversation, and what a child document keeps of it: nothing."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Final

from chopin_core.jsonvalue import Json
from chopin_core.sidecar import SidecarRecord, family_of

TRANSCRIPT: Final = "transcript"

OF_CONVERSATION: Final = frozenset(
    {
        TRANSCRIPT,
        "workflowRuns",
        "conversationPlan",
        "conversationPlanRetries",
        "conversationPlanJobs",
        "conversationPlanEffects",
        "conversationPlanPendingEffects",
        "pendingCardActions",
    }
)
"""
Families of sections that live and end with a document's Chat: the transcript, workflow runs, the analysis of the conversation
with its retries and jobs, its effects and those that are still to be delivered, and card actions that await their mirror.
"""


class Verdict(enum.Enum):
    """What is to become of a child."""

    SILENT = "has no conversation"
    CITED = "has one that a decision cites"
    CLEAR = "has one"


def judge(records: Sequence[SidecarRecord], *, remembered: bool) -> Verdict:
    """Of the copies of a child's sidecar, and of whether its Planner remembers anything."""
    if not remembered and all(without_conversation(record) == record for record in records):
        return Verdict.SILENT
    if any(_cites(record.sections.get("questions")) for record in records):
        return Verdict.CITED
    return Verdict.CLEAR


def without_conversation(record: SidecarRecord) -> SidecarRecord:
    """The record with an empty transcript, if it had one, and without the rest; equal to the given one if it had nothing."""
    kept = {name: value for name, value in record.sections.items() if family_of(name) not in OF_CONVERSATION}
    if TRANSCRIPT in record.sections:
        kept[TRANSCRIPT] = []
    return SidecarRecord(head=record.head, sections=kept)


def _cites(questions: Json) -> bool:
    """
    Whether a decision points into the Chat and could not be restored without it: it was drawn from a thread of the
    conversation, or one of its options quotes a message.
    """
    return isinstance(questions, list | tuple) and any(_decision_cites(decision) for decision in questions)


def _decision_cites(decision: Json) -> bool:
    if not isinstance(decision, Mapping):
        return False
    if decision.get("threadId") is not None:
        return True
    origins = decision.get("optionOrigins")
    return isinstance(origins, Mapping) and any(
        isinstance(origin, Mapping) and origin.get("source") is not None for origin in origins.values()
    )
