"""What a tool may be given: bounds, exact keys, and text that nobody could keep."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_world import Facts, Server, answer, creation, refusal


async def _refused(server: Server, tool: str, arguments: Facts) -> list[Facts]:
    facts = refusal(await server.call(tool, **arguments))
    assert (facts["code"], facts["retry"]) == ("invalid-arguments", "new_key")
    issues: list[Facts] = facts["issues"]
    return issues


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("idempotencyKey", ""),
        ("idempotencyKey", "k" * 129),
        ("idempotencyKey", " \t"),
        ("repository", "acme"),
        ("repository", "acme/plans/more"),
        ("repository", "acme/plans\n"),
        ("baseBranch", "b" * 256),
        ("baseCommit", "c" * 65),
        ("title", "t" * 121),
        ("title", " "),
        ("title", "two\nlines"),
        ("title", 7),
        ("brief", "Warm rooms"),
        ("brief.goal", " \n"),
        ("brief.goal", "g" * 4097),
        ("brief.constraints", "one"),
        ("brief.constraints.1", None),
        ("plan", None),
        ("plan", "a\0b"),
        ("title", "a\0b"),
        ("brief.openQuestions.0", "a\0b"),
    ],
)
async def test_an_argument_out_of_bounds_is_refused_by_name(path: str, value: object, server: Server) -> None:
    arguments = creation("k")
    match path.split("."):
        case [name]:
            arguments[name] = value
        case ["brief", name]:
            arguments["brief"] = {"goal": "Warm rooms", name: value}
        case ["brief", name, index]:
            arguments["brief"] = {"goal": "Warm rooms", name: ["fine"] * int(index) + [value]}
    issues = await _refused(server, "create_document", arguments)
    assert [issue["path"] for issue in issues] == [path]
    assert answer(await server.call("list_documents", repository="acme/plans")) == {"documents": []}


async def test_every_argument_may_be_as_long_as_it_says_in_code_points(server: Server) -> None:
    created = answer(
        await server.call(
            "create_document",
            **creation(
                "🌡" * 128,
                baseBranch="b" * 255,
                baseCommit="c" * 64,
                title="🌡" * 120,
                brief={"goal": "🌡" * 4096},
            ),
        )
    )
    assert created["title"] == "🌡" * 120


COMPLETE: dict[str, Facts] = {
    "list_documents": {"repository": "acme/plans"},
    "read_document": {"id": "/documents/acme/plans/x"},
    "create_document": creation("k"),
    "update_document": {"id": "/documents/acme/plans/x", "revision": 0, "plan": "", "idempotencyKey": "k"},
}


@pytest.mark.parametrize(("tool", "name"), [(tool, name) for tool, arguments in COMPLETE.items() for name in arguments])
async def test_a_missing_argument_is_named(tool: str, name: str, server: Server) -> None:
    issues = await _refused(server, tool, {key: value for key, value in COMPLETE[tool].items() if key != name})
    assert [(issue["code"], issue["path"]) for issue in issues] == [("missing", name)]


@pytest.mark.parametrize("tool", COMPLETE)
async def test_an_unknown_argument_is_refused_by_name(tool: str, server: Server) -> None:
    issues = await _refused(server, tool, {**COMPLETE[tool], "colour": "red"})
    assert [(issue["code"], issue["path"]) for issue in issues] == [("extra-forbidden", "colour")]


async def test_an_unknown_part_of_the_brief_is_refused_by_name(server: Server) -> None:
    issues = await _refused(server, "create_document", creation("k", brief={"goal": "Warm rooms", "colour": "red"}))
    assert [issue["path"] for issue in issues] == ["brief.colour"]


@pytest.mark.parametrize("revision", [-1, 2**53, 1.0, True, "0", None])
async def test_a_revision_is_a_counter(revision: object, server: Server) -> None:
    given = {"id": "/documents/acme/plans/x", "revision": revision, "plan": "", "idempotencyKey": "k"}
    assert [issue["path"] for issue in await _refused(server, "update_document", given)] == ["revision"]


@pytest.mark.parametrize("limit", [0, 101])
async def test_a_page_has_1_to_100_documents(limit: int, server: Server) -> None:
    issues = await _refused(server, "list_documents", {"repository": "acme/plans", "limit": limit})
    assert [issue["path"] for issue in issues] == ["limit"]


async def test_a_refusal_never_quotes_what_was_given_and_stays_short(server: Server) -> None:
    given = {f"{'k' * 1000}{number}": "a secret" for number in range(200)}
    facts = refusal(await server.call("read_document", id="x", **given))
    assert "a secret" not in json.dumps(facts)
    assert len(json.dumps(facts)) < 15_000
    assert len(facts["issues"]) + facts["issues_left_out"] == 200


HOSTILE = ['"\\ud800"', '"\\udc00"', '"\\udc00\\ud800"', '"a\\u0000b"']


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
@pytest.mark.parametrize(
    "arguments",
    [
        '{"id": TEXT}',
        '{"id": "x", TEXT: 1}',
        '{"id": "x", "revision": 0, "plan": TEXT, "idempotencyKey": "k"}',
        '{"id": "x", "revision": 0, "plan": "", "idempotencyKey": TEXT}',
    ],
)
async def test_text_nobody_could_keep_has_a_defined_answer(text: str, era: str, arguments: str, server: Server) -> None:
    tool = "update_document" if "plan" in arguments else "read_document"
    answered = await _raw_call(server, era, tool, arguments.replace("TEXT", text))
    if "error" in answered:
        assert answered["error"]["code"] == -32700  # the SDK's parser of the 2025 revisions reads no lone surrogate
    else:
        assert answered["result"]["isError"] is True
        assert answered["result"]["structuredContent"]["code"] == "invalid-arguments"
    assert answer(await server.call("list_documents", repository="acme/plans")) == {"documents": []}


async def _raw_call(server: Server, era: str, tool: str, arguments: str) -> Facts:
    meta = {
        "io.modelcontextprotocol/protocolVersion": era,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = json.dumps({"name": tool, "_meta": meta})[:-1] + f', "arguments": {arguments}}}'
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": era,
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    async with server.http() as http:
        response = await http.post("/mcp", content=body.encode(), headers=headers)
    assert response.status_code in (200, 400)
    facts: dict[str, Any] = response.json()
    return facts
