"""Cursors: what is handed back unread works, anything else is refused as an argument."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest

from chopin_core.errors import InvalidField
from chopin_core.ids import ChannelId
from chopin_core.people import Role
from chopin_core.ports.channels import Cursor
from chopin_mcp.cursors import decode, encode

from agent_world import ADA, ELSEWHERE, PLANS, Server, World, answer, refusal

HERE = Cursor(at=datetime(2026, 11, 30, 12, 0, 0, 123456, UTC), id=ChannelId("00000000-0000-4000-8000-000000000001"))


def _text(*facts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(facts).encode()).rstrip(b"=").decode()


def test_a_cursor_keeps_full_precision() -> None:
    assert decode(encode(HERE, PLANS.id, include_archived=False), PLANS.id, include_archived=False) == HERE


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "ä",
        "====",
        _text(),
        _text(1, PLANS.id, False, HERE.at.isoformat()),
        _text(2, PLANS.id, False, HERE.at.isoformat(), HERE.id),
        _text(1, PLANS.id, False, "2026-11-30T12:00:00", HERE.id),
        _text(1, PLANS.id, False, "2026-11-30T12:00:00+01:00", HERE.id),
        _text(1, PLANS.id, False, 7, HERE.id),
        _text(1, PLANS.id, False, HERE.at.isoformat(), "' or 1=1"),
        base64.urlsafe_b64encode(b"[" * 5_000).decode(),
    ],
)
def test_a_cursor_that_was_not_handed_out_is_refused(text: str) -> None:
    with pytest.raises(InvalidField) as refused:
        decode(text, PLANS.id, include_archived=False)
    assert refused.value.field == "cursor"


async def test_a_cursor_of_another_listing_is_refused_by_name(server: Server, world: World) -> None:
    world.directory.roles[ADA.id, ELSEWHERE.id] = Role.PULL
    for number in range(2):
        await server.documents.create_blank(PLANS, f"Plan {number}", by=ADA)
    cursor = answer(await server.call("list_documents", repository="acme/plans", limit=1))["next_cursor"]
    for other in ({"repository": "acme/elsewhere"}, {"repository": "acme/plans", "includeArchived": True}):
        facts = refusal(await server.call("list_documents", cursor=cursor, **other))
        assert facts["code"] == "invalid-arguments"
        assert [issue["path"] for issue in facts["issues"]] == ["cursor"]
