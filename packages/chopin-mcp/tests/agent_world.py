"""A small world to test in: two repositories, three people, and a server over the memory adapter that can be restarted."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import attrs
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, Implementation, TextContent

from chopin_core.counters import Epoch
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.documents import Documents
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import StorageUnavailable
from chopin_core.ids import RepositoryId, UserId, channel_id
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.tables import Tables
from chopin_core.people import Person, Repository, RepositoryAccess, Role
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.room.rooms import Rooms
from chopin_core.running import running
from chopin_core.sidecar import Sidecar
from chopin_mcp.app import McpApp, create_app

ORIGIN = "http://127.0.0.1:8787"
ENDPOINT = f"{ORIGIN}/mcp"

PLANS = Repository(id=RepositoryId("R_plans"), owner="Acme", name="plans")
ELSEWHERE = Repository(id=RepositoryId("R_elsewhere"), owner="acme", name="elsewhere")

ADA = Person(id=UserId("local:ada"), login="ada")
GRACE = Person(id=UserId("local:grace"), login="grace")
EVE = Person(id=UserId("local:eve"), login="eve")

SOURCE = "# Aufbau\n\nWärme & *Kälte*: 温度 🌡.\n"

Facts = dict[str, Any]


@attrs.define(kw_only=True)
class Directory:
    """An authority that is a table. Once it has no ``answers_left`` it is like a GitHub that does not answer."""

    people: dict[str, Person]
    roles: dict[tuple[UserId, RepositoryId], Role]
    repositories_by_name: dict[str, Repository]
    answers_left: int | None = None

    async def session(self, secret: str) -> Person | None:
        return None

    async def bearer(self, token: str) -> Person | None:
        self._answer()
        return next((person for known, person in self.people.items() if secrets.compare_digest(known, token)), None)

    async def repositories(self, person: Person) -> tuple[RepositoryAccess, ...]:
        self._answer()
        seen = (self._seen(person, repository) for repository in self.repositories_by_name.values())
        return tuple(access for access in seen if access is not None)

    async def locate(self, person: Person, owner: str, name: str) -> RepositoryAccess | None:
        self._answer()
        return self._seen(person, self.repositories_by_name.get(f"{owner}/{name}".lower()))

    async def access(self, person: Person, repository: Repository) -> RepositoryAccess | None:
        self._answer()
        found = (known for known in self.repositories_by_name.values() if known.id == repository.id)
        return self._seen(person, next(found, None))

    def _answer(self) -> None:
        if self.answers_left == 0:
            raise StorageUnavailable("directory")
        if self.answers_left is not None:
            self.answers_left -= 1

    def _seen(self, person: Person, repository: Repository | None) -> RepositoryAccess | None:
        role = None if repository is None else self.roles.get((person.id, repository.id))
        if repository is None or role is None:
            return None
        return RepositoryAccess(repository=repository, role=role, private=True, url="", default_branch="main")


@attrs.frozen(kw_only=True)
class Server:
    """A running process."""

    app: McpApp
    documents: Documents
    rooms: Rooms
    storage: MemoryStorage
    _keys: Iterator[int] = attrs.field(factory=itertools.count, init=False)

    def http(self, token: str | None = "ada-token", **headers: str) -> httpx2.AsyncClient:
        """Plain HTTP to the endpoint; without a token nobody is named."""
        named = {} if token is None else {"authorization": f"Bearer {token}"}
        transport = httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(transport=transport, base_url=ORIGIN, headers={**named, **headers})

    @asynccontextmanager
    async def client(self, token: str = "ada-token", *, mode: str = "auto") -> AsyncIterator[Client]:
        """The official client, speaking the protocol of ``mode``."""
        program = Implementation(name="tester", version="1.2")
        async with (
            self.http(token) as http,
            Client(streamable_http_client(ENDPOINT, http_client=http), mode=mode, client_info=program) as client,
        ):
            yield client

    async def call(self, tool: str, token: str = "ada-token", **arguments: Any) -> CallToolResult:
        async with self.client(token) as client:
            return await client.call_tool(tool, arguments)

    async def recorded(self, source: str) -> Facts:
        """The facts of a document that a record put blocks into, past the checks that people and agents meet."""
        replica = PycrdtEngine().new()
        replica.splice([Splice(0, 0, source)])
        channel = await self.storage.channels.create(
            ChannelCreate(
                id=channel_id(PLANS.id, "recorded"),
                repository=PLANS,
                title="Recorded",
                created_by=(await self.storage.users.put(ADA, now=now())).person.id,
                now=now(),
                initial=Initial(
                    generation="1",
                    epoch=Epoch("1"),
                    source=canonical(source),
                    source_hash=source_hash(canonical(source)),
                    document=replica.update(),
                    sidecar=Sidecar().record(),
                ),
            )
        )
        return answer(await self.call("read_document", id=channel.id))

    async def created(self, title: str = "Heating", token: str = "ada-token", **changed: Any) -> Facts:
        """The facts of a new document."""
        return answer(await self.call("create_document", token, **creation(f"key-{next(self._keys)}", title=title, **changed)))


@attrs.frozen(kw_only=True)
class World:
    """What outlives a process: a database and a directory."""

    tables: Tables = attrs.field(factory=Tables)
    directory: Directory = attrs.field(
        factory=lambda: Directory(
            people={"ada-token": ADA, "grace-token": GRACE, "eve-token": EVE},
            roles={
                (ADA.id, PLANS.id): Role.PUSH,
                (GRACE.id, PLANS.id): Role.PULL,
                (EVE.id, ELSEWHERE.id): Role.ADMIN,
            },
            repositories_by_name={"acme/plans": PLANS, "acme/elsewhere": ELSEWHERE},
        )
    )

    @asynccontextmanager
    async def server(self, origin: str = ORIGIN) -> AsyncIterator[Server]:
        """
        A process on that database, shut down in order at the end; no fault may have been fatal to it.

        A task of its own enters and leaves it: a process does not end with the clients that it serves.
        """
        started: asyncio.Future[Server] = asyncio.get_running_loop().create_future()
        over = asyncio.Event()
        process = asyncio.create_task(self._run(origin, started, over))
        await asyncio.wait([process, started], return_when=asyncio.FIRST_COMPLETED)
        try:
            yield started.result() if started.done() else await process
        finally:
            over.set()
            await process

    async def _run(self, origin: str, started: asyncio.Future[Server], over: asyncio.Event) -> Server:
        faults: list[object] = []
        storage = MemoryStorage(self.tables)
        async with running(storage, PycrdtEngine(), owner="test", failed=faults.append, lost=faults.append) as chopin:
            app = create_app(documents=chopin.documents, authority=self.directory, origin=origin)
            server = Server(app=app, documents=chopin.documents, rooms=chopin.rooms, storage=storage)
            async with app.running():
                started.set_result(server)
                await over.wait()
        await storage.close()
        assert faults == []
        return server


def now() -> datetime:
    return datetime.now(UTC)


def creation(key: str, **changed: Any) -> Facts:
    """Valid arguments of ``create_document``, with what is given put over them."""
    return {
        "idempotencyKey": key,
        "repository": "acme/plans",
        "baseBranch": "main",
        "baseCommit": "0f3a",
        "title": "Heating",
        "brief": {"goal": "Warm rooms"},
        "plan": SOURCE,
        **changed,
    }


def answer(result: CallToolResult) -> Facts:
    """The facts of an answer, once it is known that text and structure hold the same."""
    assert not result.is_error, result.structured_content
    return _facts(result)


def refusal(result: CallToolResult) -> Facts:
    """The facts of a refusal, likewise."""
    assert result.is_error, result.structured_content
    return _facts(result)


def _facts(result: CallToolResult) -> Facts:
    [content] = result.content
    assert isinstance(content, TextContent)
    facts = result.structured_content
    assert facts == json.loads(content.text)
    assert isinstance(facts, dict)
    return facts
