"""What clients are told about the server: names, limits and schemas that every known client can use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.types import Tool

from agent_world import Server

NAMES = ["list_documents", "read_document", "create_document", "update_document"]

KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "description", "default"),
    *("minLength", "maxLength", "minimum", "maximum", "pattern"),
}
"""JSON Schema that clients are known to read; references, unions and titles are dropped or refused by some."""

MODES = ["auto", "legacy", "2026-07-28"]


@pytest.fixture
async def tools(server: Server) -> list[Tool]:
    async with server.client() as client:
        return (await client.list_tools()).tools


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_are_the_same_on_one_page_in_every_era_and_for_everybody(mode: str, server: Server) -> None:
    listings = []
    for token in ("ada-token", "grace-token", "eve-token"):
        async with server.client(token, mode=mode) as client:
            listing = await client.list_tools()
            assert listing.next_cursor is None
            listings.append(listing.tools)
    assert [tool.name for tool in listings[0]] == NAMES
    assert listings[0] == listings[1] == listings[2]


@pytest.mark.parametrize("mode", MODES)
async def test_the_server_offers_tools_and_nothing_else(mode: str, server: Server) -> None:
    async with server.client(mode=mode) as client:
        await client.list_tools()
        offered = client.server_capabilities.model_dump(exclude_none=True)
        assert set(offered) <= {"tools"}
        if mode != "2026-07-28":  # a client that was told the version asks nothing
            assert client.server_info is not None and client.server_info.name == "chopin"
            assert client.instructions is not None and len(client.instructions) < 400


async def test_a_list_of_tools_may_be_kept_but_not_shared(server: Server) -> None:
    async with server.client() as client:
        listing = await client.list_tools()
    assert listing.cache_scope == "private"
    assert listing.ttl_ms > 0
    assert listing.result_type == "complete"


def test_names_fit_the_narrowest_client(tools: list[Tool]) -> None:
    for tool in tools:
        assert re.fullmatch(r"[a-z_]{1,40}", tool.name)
        assert len(f"mcp__chopin__{tool.name}") <= 60


def test_every_tool_and_argument_is_described_in_a_few_lines(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.title and tool.description
        assert len(tool.description) <= 500
        for name, schema in tool.input_schema["properties"].items():
            assert schema["description"], f"{tool.name}.{name}"


def test_all_four_hints_are_set(tools: list[Tool]) -> None:
    hints = {}
    for tool in tools:
        assert tool.annotations is not None
        given = tool.annotations.model_dump(exclude={"title"})
        assert None not in given.values()
        hints[tool.name] = given
    assert {name for name, given in hints.items() if given["read_only_hint"]} == {"list_documents", "read_document"}
    assert {name for name, given in hints.items() if given["destructive_hint"]} == {"update_document"}
    assert all(given["idempotent_hint"] and not given["open_world_hint"] for given in hints.values())


def test_schemas_use_only_keywords_that_every_client_reads(tools: list[Tool]) -> None:
    for tool in tools:
        assert tool.input_schema["type"] == "object"
        for part in _parts(tool.input_schema):
            assert set(part) <= KEYWORDS, f"{tool.name}: {set(part) - KEYWORDS}"
            assert isinstance(part["type"], str)


def test_no_output_schema_is_published_since_clients_would_check_refusals_against_it(tools: list[Tool]) -> None:
    assert [tool.output_schema for tool in tools] == [None] * 4


def test_argument_objects_are_closed(tools: list[Tool]) -> None:
    for tool in tools:
        for part in _parts(tool.input_schema):
            if part["type"] == "object":
                assert part["additionalProperties"] is False


def test_the_bounds_are_those_of_the_protocol(tools: list[Tool]) -> None:
    create, update = tools[2].input_schema["properties"], tools[3].input_schema["properties"]
    assert {name: create[name].get("maxLength") for name in ("idempotencyKey", "baseBranch", "baseCommit", "title")} == {
        "idempotencyKey": 128,
        "baseBranch": 255,
        "baseCommit": 64,
        "title": 120,
    }
    assert create["brief"]["properties"]["goal"]["maxLength"] == 4096
    assert (update["id"]["maxLength"], update["revision"]["minimum"]) == (2048, 0)
    assert set(tools[2].input_schema["required"]) == set(create)
    assert set(tools[3].input_schema["required"]) == set(update)


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from _parts(inner)
    if "items" in schema:
        yield from _parts(schema["items"])
