"""One tool as the server knows it: what is published about it and what runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic

import attrs
from mcp import types

from chopin_core.agent_requests import AgentClient
from chopin_core.people import Person
from chopin_mcp.arguments import ArgumentsT, parse
from chopin_mcp.schemas import JsonSchema, published


@attrs.frozen(kw_only=True)
class Caller:
    """Who calls, and through which program if it told."""

    person: Person
    client: AgentClient | None = None


@attrs.frozen(kw_only=True)
class Tool(Generic[ArgumentsT]):
    """A name of at most 40 letters and underscores, all four hints, and a coroutine from arguments to facts."""

    name: str
    title: str
    description: str
    arguments: type[ArgumentsT]
    run: Callable[[Caller, ArgumentsT], Awaitable[Mapping[str, Any]]]
    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    input_schema: JsonSchema = attrs.field(init=False)

    @input_schema.default
    def _published(self) -> JsonSchema:
        return published(self.arguments)

    async def call(self, caller: Caller, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """
        Run the tool.

        Raises:
            ArgumentsRefused: what was given does not fit; and whatever the tool itself raises.
        """
        return await self.run(caller, parse(self.arguments, given))

    def listed(self) -> types.Tool:
        # Without an output schema: clients on the TypeScript SDK check the structure of refusals against it as well, and then
        # throw instead of showing the refusal (typescript-sdk issue 1943).
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=self.open_world,
            ),
        )
