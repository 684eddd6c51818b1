"""The whole shell on a real server and the in-memory storage, and the people who use it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import attrs
import httpx
import uvicorn
import websockets
from starlette.types import ASGIApp

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import StorageUnavailable
from chopin_core.ids import RepositoryId, UserId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.people import Person, Repository, RepositoryAccess, Role
from chopin_core.room.rooms import Rooms
from chopin_core.running import running
from chopin_web.app import create_app
from chopin_web.hypercorn_server import serve_on_hypercorn
from chopin_web.serving import listen
from chopin_web.testing.browser import Browser

COOKIE = "chopin_session"
ENGINE = Repository(id=RepositoryId("R_engine"), owner="ada", name="engine")
FOREIGN = Repository(id=RepositoryId("R_foreign"), owner="eve", name="secret")


class Register:
    """An authority that knows who may do what from a table that a test can change."""

    def __init__(self) -> None:
        self.roles: dict[tuple[str, RepositoryId], Role] = {
            ("ada", ENGINE.id): Role.ADMIN,
            ("ben", ENGINE.id): Role.PUSH,
            ("rita", ENGINE.id): Role.PULL,
            ("eve", FOREIGN.id): Role.ADMIN,
        }
        self.signed_in = {"ada", "ben", "rita", "eve"}
        self.outage = False

    async def session(self, secret: str) -> Person | None:
        self._answers()
        return Person(id=UserId(f"test:{secret}"), login=secret) if secret in self.signed_in else None

    async def bearer(self, token: str) -> Person | None:
        return await self.session(token)

    async def repositories(self, person: Person) -> tuple[RepositoryAccess, ...]:
        seen = [await self.access(person, repository) for repository in (ENGINE, FOREIGN)]
        return tuple(access for access in seen if access is not None)

    async def locate(self, person: Person, owner: str, name: str) -> RepositoryAccess | None:
        for repository in (ENGINE, FOREIGN):
            if (repository.owner, repository.name) == (owner.lower(), name.lower()):
                return await self.access(person, repository)
        return None

    async def access(self, person: Person, repository: Repository) -> RepositoryAccess | None:
        self._answers()
        role = self.roles.get((person.login, repository.id))
        if role is None:
            return None
        return RepositoryAccess(repository=repository, role=role, private=True, url="", default_branch="main")

    def _answers(self) -> None:
        if self.outage:
            raise StorageUnavailable("outage of the test")


@attrs.frozen(kw_only=True)
class Site:
    origin: str
    app: ASGIApp
    storage: MemoryStorage
    rooms: Rooms
    register: Register
    fatal: list[BaseException]

    def person(self, name: str | None, **headers: str) -> httpx.AsyncClient:
        """A browser without a page: its cookie, and the Origin that its pages would send."""
        cookies = {} if name is None else {COOKIE: name}
        return httpx.AsyncClient(base_url=self.origin, cookies=cookies, headers={"origin": self.origin, **headers})

    async def document(self, title: str = "Notes") -> str:
        async with self.person("ada") as ada:
            made = await ada.post("/api/repositories/ada/engine/channels", json={"title": title})
        assert made.status_code == 201, made.text
        return str(made.json()["channel"]["id"])

    def dial(self, name: str | None, channel: str, **options: Any) -> websockets.connect:
        headers = {} if name is None else {"Cookie": f"{COOKIE}={name}"}
        return websockets.connect(
            f"{self.origin.replace('http', 'ws')}/ws?channel={channel}",
            origin=options.pop("origin", self.origin),
            additional_headers=headers,
            **options,
        )

    @asynccontextmanager
    async def browser(self, name: str, channel: str, **options: Any) -> AsyncIterator[Browser]:
        async with self.dial(name, channel, **options) as wire:
            browser = Browser(wire=wire)  # it has not opened the document: some tests are about that
            await browser.next("session:hello")
            yield browser

    async def refused(self, name: str | None, channel: str, **options: Any) -> int:
        """The HTTP status with which an upgrade is refused."""
        try:
            async with self.dial(name, channel, **options):
                return 101
        except websockets.InvalidStatus as refusal:
            return refusal.response.status_code


@asynccontextmanager
async def on_hypercorn(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    closing = asyncio.Event()
    task = asyncio.create_task(serve_on_hypercorn(app, listener, closing))
    try:
        yield
    finally:
        closing.set()
        await task


@asynccontextmanager
async def on_uvicorn(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="websockets-sansio", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server._serve([listener]))  # without the signal handlers that serve() would install
    try:
        yield
    finally:
        server.should_exit = True
        await task


SERVERS: dict[str, Callable[[ASGIApp, socket.socket], AbstractAsyncContextManager[None]]] = {
    "hypercorn": on_hypercorn,
    "uvicorn": on_uvicorn,
}


@asynccontextmanager
async def running_site(server: str = "hypercorn", ready: Callable[[], Awaitable[None]] | None = None) -> AsyncIterator[Site]:
    storage, register, fatal = MemoryStorage(), Register(), list[BaseException]()
    # Where a test closed the storage there is no lease to let go.
    async with _without_storage(), running(storage, PycrdtEngine(), owner="test", failed=fatal.append) as chopin:
        with listen("127.0.0.1", 0) as listener:
            origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
            app = create_app(
                documents=chopin.documents,
                rooms=chopin.rooms,
                authority=register,
                origin=origin,
                cookie=COOKIE,
                mode="test",
                ready=ready or storage.health,
            )
            async with SERVERS[server](app, listener):
                yield Site(origin=origin, app=app, storage=storage, rooms=chopin.rooms, register=register, fatal=fatal)
                await chopin.rooms.close()


@asynccontextmanager
async def _without_storage() -> AsyncIterator[None]:
    with suppress(StorageUnavailable):
        yield
