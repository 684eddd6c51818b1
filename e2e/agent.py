"""An agent: the official MCP client with the token for a bearer."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from .people import Document
from .server import PROJECT, Server


@contextlib.asynccontextmanager
async def agent(server: Server) -> AsyncIterator[Client]:
    async with contextlib.AsyncExitStack() as stack:
        headers = {"authorization": f"Bearer {server.token}"}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=20))
        yield await stack.enter_async_context(Client(streamable_http_client(f"{server.origin}/mcp", http_client=http)))


def creation(key: str, title: str, plan: str) -> dict[str, Any]:
    """Arguments of ``create_document``."""
    return {
        "idempotencyKey": key,
        "repository": PROJECT,
        "baseBranch": "main",
        "baseCommit": "0f3a",
        "title": title,
        "brief": {"goal": "Warm rooms"},
        "plan": plan,
    }


def facts(result: CallToolResult, *, refused: bool = False) -> dict[str, Any]:
    """What an answer or a refusal says, once it is known that text and structure say the same."""
    assert bool(result.is_error) is refused, result
    [content] = result.content
    assert isinstance(content, TextContent)
    told = result.structured_content
    assert isinstance(told, dict)
    assert told == json.loads(content.text)
    return told


async def stored(server: Server, document: Document) -> str:
    """What the server keeps of a document, asked past every browser."""
    async with agent(server) as client:
        source = facts(await client.call_tool("read_document", {"id": document.id}))["source"]
    assert isinstance(source, str)
    return source
