"""
The MCP server: which tools there are and how a call reaches one of them.

It is built on the SDK's low-level ``Server``. ``MCPServer`` would also advertise resources and prompts, which we have not,
would answer bad arguments in text alone, and would set up the process's logging.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from mcp import MCPError, types
from mcp.server import Server, ServerRequestContext
from mcp.server.caching import CacheHint

from chopin_core.agent_requests import AgentClient
from chopin_core.documents import Documents
from chopin_core.errors import InvalidField
from chopin_core.ports.authority import Authority
from chopin_core.text import storable
from chopin_mcp.bearer import person_of
from chopin_mcp.documents import DocumentTools
from chopin_mcp.locator import Locator
from chopin_mcp.results import answered, refused
from chopin_mcp.tool import Caller

INSTRUCTIONS = (
    "Chopin keeps Markdown documents that people and agents write together, each in one repository. Read a document before "
    "you update it. When a call is refused, do what its message and retry say; repeat a lost call with the same "
    "idempotencyKey."
)

TOOLS_FRESH_FOR = 300_000
"""Milliseconds for which a client may keep the list of tools; it only changes with a new version of the server."""

CLIENT_LENGTH = 100


def create_server(*, documents: Documents, authority: Authority, origin: str) -> Server[Any]:
    """A server with the tools over ``documents``; who calls must stand in the HTTP scope (see ``bearer``)."""
    locator = Locator(documents=documents, authority=authority, origin=origin)
    tools = {tool.name: tool for tool in DocumentTools(documents=documents, locator=locator).tools()}
    listing = [tool.listed() for tool in tools.values()]

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listing)

    async def call_tool(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "There is no tool of that name; tools/list names them all.")
        try:
            return answered(await tool.call(_caller(context), params.arguments or {}))
        except Exception as error:
            return refused(error, tool.name)

    return Server(
        "chopin",
        version=version("chopin-mcp"),
        title="Chopin",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=TOOLS_FRESH_FOR, scope="private")},
        get_tool_input_schema=lambda name: tools[name].input_schema if name in tools else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _caller(context: ServerRequestContext[Any]) -> Caller:
    assert context.request is not None, "served over HTTP only"
    return Caller(person=person_of(context.request.scope), client=_client(context))


def _client(context: ServerRequestContext[Any]) -> AgentClient | None:
    """The program behind the call; since 2026 each request tells, before that only a session would have known."""
    told = context.session.client_params
    if told is None:
        return None
    try:
        name, release = (storable(text, "client")[:CLIENT_LENGTH] for text in (told.client_info.name, told.client_info.version))
    except InvalidField:
        return None
    return AgentClient(name=name, version=release)
