"""Both protocol eras on the wire, as old and new clients speak them, and a real server in between."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping
from typing import Any

import attrs
import httpx2
import pytest
import uvicorn
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from chopin_core.ids import ChannelId
from chopin_mcp.app import McpApp

from agent_world import SOURCE, Facts, Server, World, answer, creation

OLD = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


async def _old(server: Server, method: str, params: Facts | None = None, headers: Mapping[str, str] | None = None) -> Facts:
    """One request as a client of 2025 sends it, on a connection of its own."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, **({} if params is None else {"params": params})}
    async with server.http() as http:
        response = await http.post("/mcp", json=message, headers={**OLD, **(headers or {})})
    assert response.status_code == 200
    assert "mcp-session-id" not in response.headers
    facts: Facts = response.json()
    return facts


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
async def test_an_old_client_shakes_hands_and_calls_without_a_session(version: str, server: Server) -> None:
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    welcome = (await _old(server, "initialize", hello))["result"]
    assert welcome["protocolVersion"] == version
    assert set(welcome["capabilities"]) == {"tools"}
    assert welcome["serverInfo"]["name"] == "chopin"
    async with server.http() as http:
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        response = await http.post("/mcp", json=ready, headers={**OLD, "mcp-protocol-version": version})
    assert (response.status_code, response.content) == (202, b"")
    listed = await _old(server, "tools/list", None, {"mcp-protocol-version": version})
    assert len(listed["result"]["tools"]) == 4
    made = await _old(server, "tools/call", {"name": "create_document", "arguments": creation("k")})
    assert made["result"]["structuredContent"]["source"] == SOURCE
    assert "isError" not in made["result"] or made["result"]["isError"] is False


async def test_an_old_client_may_call_without_shaking_hands(server: Server) -> None:
    called = await _old(server, "tools/call", {"name": "list_documents", "arguments": {"repository": "acme/plans"}})
    assert called["result"]["structuredContent"] == {"documents": []}


async def test_a_session_that_a_client_remembers_from_another_server_is_ignored(server: Server) -> None:
    listed = await _old(server, "tools/list", None, {"mcp-session-id": "long-gone", "mcp-protocol-version": "2025-06-18"})
    assert len(listed["result"]["tools"]) == 4


async def test_an_old_client_leaves_an_update_without_a_program(server: Server) -> None:
    document = await server.created()
    update = {"id": document["id"], "revision": 0, "plan": "Neu.\n", "idempotencyKey": "u"}
    await _old(server, "tools/call", {"name": "update_document", "arguments": update})
    assert await _program(server, document) is None


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_the_official_client_does_a_whole_round_in_each_mode(mode: str, server: Server) -> None:
    async with server.client(mode=mode) as client:
        created = answer(await client.call_tool("create_document", creation("k")))
        update = {"id": created["url"], "revision": 0, "plan": "Neu.\n", "idempotencyKey": "u"}
        updated = answer(await client.call_tool("update_document", update))
        assert updated == {**created, "source": "Neu.\n", "revision": 1}
        assert answer(await client.call_tool("read_document", {"id": created["id"]})) == updated


@pytest.mark.parametrize(
    ("info", "kept"),
    [
        ({"name": "agent", "version": "1"}, {"name": "agent", "version": "1"}),
        ({"name": "a" * 500, "version": "9" * 500}, {"name": "a" * 100, "version": "9" * 100}),
        ({"name": "a\0b", "version": "1"}, None),
        (None, None),
    ],
)
async def test_the_program_is_what_it_calls_itself_if_that_can_be_kept(info: object, kept: object, server: Server) -> None:
    document = await server.created()
    meta: Facts = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": info,
    }
    arguments = {"id": document["id"], "revision": 0, "plan": "Neu.\n", "idempotencyKey": "u"}
    modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "update_document"}
    await _old(server, "tools/call", {"name": "update_document", "arguments": arguments, "_meta": meta}, modern)
    assert await _program(server, document) == kept


async def _program(server: Server, document: Facts) -> object:
    async with server.rooms.hold(ChannelId(document["id"])) as room:
        sections = room.view().sidecar.sections
    [record] = [value for name, value in sections.items() if name.startswith("mcpUpdates.")]
    assert isinstance(record, dict)
    return record["client"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_unknown_tool_is_a_protocol_error_that_points_to_the_list(mode: str, server: Server) -> None:
    async with server.client(mode=mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("delete_document", {})
    assert refused.value.error.code == -32602
    assert "tools/list" in refused.value.error.message


@attrs.define
class Address:
    """One address behind which processes come and go."""

    app: McpApp | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self.app is not None
        await self.app(scope, receive, send)


@contextlib.asynccontextmanager
async def _listening(address: Address) -> AsyncIterator[str]:
    """A real HTTP server on the loopback interface, and its origin."""
    listener = socket.create_server(("127.0.0.1", 0))
    served = uvicorn.Server(uvicorn.Config(address, lifespan="off", log_level="error"))
    task = asyncio.create_task(served.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        served.should_exit = True
        await task
        listener.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_goes_on_over_a_real_socket_after_a_restart(mode: str, world: World) -> None:
    address = Address()
    async with _listening(address) as origin, asyncio.timeout(20):
        async with contextlib.AsyncExitStack() as clients:
            async with world.server(origin) as server:
                address.app = server.app
                http = await clients.enter_async_context(httpx2.AsyncClient(headers={"authorization": "Bearer ada-token"}))
                transport = streamable_http_client(f"{origin}/mcp", http_client=http)
                client = await clients.enter_async_context(Client(transport, mode=mode))
                created = answer(await client.call_tool("create_document", creation("k")))
            async with world.server(origin) as restarted:
                address.app = restarted.app
                assert answer(await client.call_tool("read_document", {"id": created["url"]})) == created
                assert answer(await client.call_tool("create_document", creation("k"))) == created
