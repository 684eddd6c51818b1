"""
The counters of a channel: distinct types, so that none can stand for another, and the rules by which they move.

======================  ==========================================================================================
counter                 what moves it
======================  ==========================================================================================
StorageRevision         every accepted durable commit of the channel, also one of the sidecar alone
StorageSequence         every accepted commit; orders updates and events, so the journal has gaps
Epoch                   the document is rebuilt, replaced or restored from a backup; two epochs never merge
DocumentSequence        each accepted update (one each) and each edit of the server, within an epoch
PlanRevision            a commit that changed the document's text
DescriptionRevision     a newer generated description; nothing else moves with it
GraphVersion            a new draft of the implementation graph
GraphRevision           an edit of that draft
ResearchRevision        a change of a research request
JobChannelRevision      a change of a background job of the channel
TargetGeneration        a job is enqueued for its target; older ones of the target are superseded
ClaimGeneration         a job is claimed by a worker
AgentGeneration         the Planner of a channel gets an owner
CredentialRevision      credentials of a session or a machine are rotated
NavigationRevision      somebody's last document is written
FencingToken            a lease is taken over; never falls for a name
======================  ==========================================================================================

Archive and restore move none of them. A checkpoint moves none either. Source: seeds/storage.md, "Counters".
"""

from __future__ import annotations

from typing import NewType

import attrs

StorageRevision = NewType("StorageRevision", int)
StorageSequence = NewType("StorageSequence", int)
Epoch = NewType("Epoch", str)
DocumentSequence = NewType("DocumentSequence", int)
PlanRevision = NewType("PlanRevision", int)
DescriptionRevision = NewType("DescriptionRevision", int)
GraphVersion = NewType("GraphVersion", int)
GraphRevision = NewType("GraphRevision", int)
ResearchRevision = NewType("ResearchRevision", int)
JobChannelRevision = NewType("JobChannelRevision", int)
TargetGeneration = NewType("TargetGeneration", int)
ClaimGeneration = NewType("ClaimGeneration", int)
AgentGeneration = NewType("AgentGeneration", int)
CredentialRevision = NewType("CredentialRevision", int)
NavigationRevision = NewType("NavigationRevision", int)
FencingToken = NewType("FencingToken", int)

LARGEST = 2**53 - 1
"""No stored counter is larger: a browser must be able to count along (storage spec §1)."""


@attrs.frozen(kw_only=True)
class DocumentCounters:
    """The two counters that the document itself carries, kept in the head of the sidecar."""

    sequence: DocumentSequence = DocumentSequence(0)
    plan: PlanRevision = PlanRevision(0)

    def accepted(self, updates: int, *, text_changed: bool) -> DocumentCounters:
        """After a batch of ``updates`` was accepted: one sequence each, a plan revision if the text moved."""
        return DocumentCounters(sequence=DocumentSequence(self.sequence + updates), plan=PlanRevision(self.plan + text_changed))
