"""The life of one serving process: become the writer, serve, and on any reason to stop put everything away in order."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime

import attrs
import structlog
from starlette.types import ASGIApp

from chopin_core.documents import Documents
from chopin_core.errors import ChopinError, Closing
from chopin_core.ids import UuidV7
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.room.history import Clerk
from chopin_core.room.rooms import Rooms
from chopin_core.writer import Loss, Writer
from chopin_web.hypercorn_server import serve_on_hypercorn

DRAIN_SECONDS = 20.0

_log = structlog.get_logger("chopin")


@attrs.frozen(kw_only=True)
class Core:
    """What the shells are made from."""

    documents: Documents
    rooms: Rooms
    ready: Callable[[], Awaitable[None]]


@attrs.frozen(kw_only=True)
class Shell:
    """An app, and what has to be running around it while it serves."""

    app: ASGIApp
    running: AbstractAsyncContextManager[object]


async def serve_until_stopped(
    *,
    storage: Storage,
    engine: DocumentEngine,
    owner: str,
    listener: socket.socket,
    make_shell: Callable[[Core], Shell],
    serving: Callable[[], None],
) -> int:
    """
    Serve on the listener until a signal, a fault of storage or the loss of the lease; the exit status.

    The start goes lease, rooms, shell; the drain goes back the same way, once, and tries every step. ``serving`` is called
    when requests are answered. Zero means that somebody asked us to stop and nothing went wrong.

    Raises:
        LeaseHeld: another process writes to this database.
    """
    stop = asyncio.Event()
    faults: list[str] = []

    def fatal(error: BaseException) -> None:
        _log.error("storage failed; draining", error=type(error).__name__, detail=str(error))
        faults.append("storage")
        stop.set()

    def lost(loss: Loss) -> None:
        _log.error("the writer lease is lost; draining", renewed_at=loss.renewed_at.isoformat(), last_error=loss.last_error)
        faults.append("lease")
        stop.set()

    new_id = UuidV7()
    writer = await Writer.take(storage.leases, owner, now=_now, lost=lost)
    clerk = Clerk(store=storage.collaboration, lease=lambda: writer.lease, now=_now, new_id=new_id)
    rooms = Rooms(storage=storage, engine=engine, clerk=clerk, fatal=fatal)
    documents = Documents(storage=storage, rooms=rooms, engine=engine, now=_now, new_id=new_id)

    async def ready() -> None:
        if stop.is_set():
            raise Closing()
        await storage.health()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        shell = make_shell(Core(documents=documents, rooms=rooms, ready=ready))
        async with shell.running:
            closing = asyncio.Event()
            server = loop.create_task(serve_on_hypercorn(shell.app, listener, closing))
            serving()
            stopped = loop.create_task(stop.wait())
            await asyncio.wait([server, stopped], return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
            stop.set()
            # Rooms first: what was taken in becomes durable and is acknowledged while the sockets still stand.
            faults += await _tried("rooms", rooms.close())
            closing.set()
            faults += await _tried("server", server)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        faults += await _tried("lease", writer.release())
    _log.info("drained", faults=faults)
    return 1 if faults else 0


async def _tried(step: str, work: Awaitable[object]) -> list[str]:
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            await work
    except (ChopinError, OSError, TimeoutError) as error:
        _log.error("drain step failed", step=step, error=type(error).__name__, detail=str(error))
        return [step]
    return []


def listen(host: str, port: int) -> socket.socket:
    """
    A listening socket, so that a taken port is known before anything is started; port 0 takes a free one.

    Raises:
        OSError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=512)
    with suppress(OSError):
        listener.setblocking(False)
    return listener


def _now() -> datetime:
    return datetime.now(UTC)
