"""Frames that go to a whole room."""

from __future__ import annotations

import json

import attrs

from chopin_core.counters import DocumentSequence, Epoch
from chopin_core.room.events import MemberView, Updated
from chopin_web.frames import plan, session

EVENT = Updated(epoch=Epoch("e"), update=b"\x01", sequence=DocumentSequence(7), sender="ada")


def test_all_who_are_told_of_one_change_get_the_very_same_frame() -> None:
    assert plan.updated(EVENT) is plan.updated(EVENT)


def test_each_change_has_a_frame_of_its_own() -> None:
    others = [attrs.evolve(EVENT, sequence=DocumentSequence(8)), attrs.evolve(EVENT, sender="ben"), EVENT]
    frames = [json.loads(plan.updated(event)) for event in [EVENT, *others]]
    assert [(frame["seq"], frame["sender"]) for frame in frames] == [(7, "ada"), (8, "ada"), (7, "ben"), (7, "ada")]


def test_who_is_here_is_told_anew_when_somebody_comes() -> None:
    ada, ben = (MemberView(handle=name, client=name) for name in ("ada", "ben"))
    frames = [json.loads(session.presence(members)) for members in [(ada,), (ada, ben)]]
    assert [len(frame["members"]) for frame in frames] == [1, 2]
