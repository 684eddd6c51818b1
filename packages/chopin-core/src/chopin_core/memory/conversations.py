"""Clearing one child of its conversation, in memory."""

from __future__ import annotations

import attrs

from chopin_core.conversations import Verdict, judge, without_conversation
from chopin_core.errors import CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.memory.tables import KeptSidecar, Tables


def clear(tables: Tables, child: ChannelId) -> Verdict:
    """Do what is to be done about a child, and say what that was. One that cannot be read is left as a cited one is."""
    history, agent = tables.histories[child], tables.agents.get(child)
    copies = [history.sidecar, None if history.snapshot is None else history.snapshot.sidecar]
    remembered = agent is not None and (agent.summary, agent.transcript_cursor) != ("", 0)
    try:
        verdict = judge([copy.record() for copy in copies if copy is not None], remembered=remembered)
    except CorruptRecord:
        return Verdict.CITED
    if verdict is Verdict.CLEAR:
        if history.sidecar is not None:
            history.sidecar = _without(history.sidecar)
        if history.snapshot is not None:
            history.snapshot = attrs.evolve(history.snapshot, sidecar=_without(history.snapshot.sidecar))
        if agent is not None:
            tables.agents[child] = attrs.evolve(agent, summary="", transcript_cursor=0)
    return verdict


def _without(kept: KeptSidecar) -> KeptSidecar:
    return KeptSidecar.of(without_conversation(kept.record()))
