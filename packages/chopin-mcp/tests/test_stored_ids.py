"""Every argument of every tool that carries a stored id refuses what is none as it refuses one that was never stored."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from chopin_core.ids import ChannelId
from chopin_core.ports.channels import ChannelCreate
from chopin_core.text import LONGEST_KEY

from agent_world import ADA, PLANS, Facts, Server, creation, now, refusal

UNKNOWN: Final = "00000000-0000-4000-8000-000000000000"

LOCATORS: Final = {"id"}
CURSORS: Final = {"cursor"}
NO_IDS: Final = {"repository", "includeArchived", "limit", "idempotencyKey", "revision"} | {
    "baseBranch", "baseCommit", "title", "brief", "plan",
}  # fmt: skip
"""Arguments that carry no stored id. A new one has to be told apart, so that nobody forgets what guards an id."""


def malformed(id: str) -> list[str]:
    near = [f"{id}\n", f"\n{id}", f"{id} ", id.upper(), f"{{{id}}}", id.replace("-", ""), id[:-1], id + "0", "٤" + id[1:]]
    return [*near, "1", "1" * 20, "1" * 21, "١٢٣", "%", "\n", "x" * 2048]


def valid(document: Facts) -> dict[str, Facts]:
    """Arguments with which each tool would have something to do."""
    return {
        "list_documents": {"repository": "acme/plans"},
        "read_document": {"id": document["id"]},
        "create_document": creation("another"),
        "update_document": {"id": document["id"], "revision": 0, "plan": "Neu.\n", "idempotencyKey": "update"},
    }


async def places(server: Server, kinds: set[str]) -> list[tuple[str, str]]:
    """Every tool and argument of these kinds."""
    async with server.client() as client:
        tools = (await client.list_tools()).tools
    arguments = [(tool.name, name) for tool in tools for name in tool.input_schema["properties"]]
    assert {name for _, name in arguments} <= LOCATORS | CURSORS | NO_IDS, "does it carry a stored id?"
    return [(tool, name) for tool, name in arguments if name in kinds]


async def test_what_is_no_id_leads_where_what_was_never_stored_leads(server: Server) -> None:
    document = await server.created()
    walked = await places(server, LOCATORS)
    assert len(walked) >= 2

    for tool, name in walked:
        plain = valid(document)[tool]
        nowhere = refusal(await server.call(tool, **{**plain, name: UNKNOWN}))
        assert (nowhere["code"], nowhere["retry"]) == ("document-unavailable", "never")
        for bad in malformed(document["id"]):
            assert refusal(await server.call(tool, **{**plain, name: bad})) == nowhere, (tool, name, bad)
    assert (await server.call("read_document", id=document["id"])).structured_content == document


async def test_what_is_no_id_leads_nowhere_even_if_something_were_stored_under_it(server: Server) -> None:
    document = await server.created()
    named = [bad for bad in malformed(document["id"]) if len(bad.encode()) <= LONGEST_KEY]
    for number, bad in enumerate(named):
        born = ChannelCreate(id=ChannelId(bad), repository=PLANS, title=f"Odd {number}", created_by=ADA.id, now=now())
        await server.storage.channels.create(born)

    for tool, name in await places(server, LOCATORS):
        for bad in named:
            facts = refusal(await server.call(tool, **{**valid(document)[tool], name: bad}))
            assert facts["code"] == "document-unavailable", (tool, name, bad)


async def test_what_fits_no_schema_is_refused_by_name(server: Server) -> None:
    document = await server.created()

    for tool, name in await places(server, LOCATORS | CURSORS):
        for bad in [f"{document['id']}\0", "x" * 4096, 7, None, [document["id"]]]:
            facts = refusal(await server.call(tool, **{**valid(document)[tool], name: bad}))
            assert facts["code"] == "invalid-arguments", (tool, name, bad)
            assert [issue["path"] for issue in facts["issues"]] == [name]


async def test_a_cursor_with_what_is_no_id_is_none(server: Server) -> None:
    document = await server.created()
    [(tool, name)] = await places(server, CURSORS)

    def cursor(id: Any) -> str:
        facts = [1, PLANS.id, False, "2026-01-05T09:30:00+00:00", id]
        return base64.urlsafe_b64encode(json.dumps(facts).encode()).rstrip(b"=").decode()

    assert not (await server.call(tool, repository="acme/plans", **{name: cursor(document["id"])})).is_error
    for bad in [None, 7, [document["id"]], "", *malformed(document["id"])[:-1]]:
        facts = refusal(await server.call(tool, repository="acme/plans", **{name: cursor(bad)}))
        assert facts["code"] == "invalid-arguments", bad
