"""The life of one serving process: become the writer, serve, and on any reason to stop put everything away in order."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

import attrs
import structlog
from starlette.types import ASGIApp

from chopin_core.errors import ChopinError, Closing, LeaseHeld
from chopin_core.ids import ChannelId
from chopin_core.ports.documents import DocumentEngine
from chopin_core.ports.storage import Storage
from chopin_core.retention import Retention
from chopin_core.running import Chopin, running
from chopin_core.writer import Loss
from chopin_web.heap import heap_trimmed
from chopin_web.hypercorn_server import serve_on_hypercorn

DRAIN_SECONDS = 20.0

Ready: TypeAlias = Callable[[], Awaitable[None]]
"""Returns while the process may write; raises a ``ChopinError`` otherwise."""

_log = structlog.get_logger("chopin")


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
    make_shell: Callable[[Chopin, Ready], Shell],
    serving: Callable[[], None],
    retention: Retention,
) -> int:
    """
    Serve on the listener until a signal, a fault of storage or the loss of the lease; the exit status.

    The start goes lease, rooms, sweeper, shell; the drain goes back the same way, once, and tries every step. ``serving`` is
    called when requests are answered. Zero means that somebody asked us to stop and nothing went wrong.

    Raises:
        LeaseHeld: another process writes to this database.
    """
    stop = asyncio.Event()
    faults: list[str] = []

    def failed(error: BaseException) -> None:
        _log.error("storage failed; draining", error=type(error).__name__, detail=str(error))
        faults.append("storage")
        stop.set()

    def lost(loss: Loss) -> None:
        _log.error("the writer lease is lost; draining", renewed_at=loss.renewed_at.isoformat(), last_error=loss.last_error)
        faults.append("lease")
        stop.set()

    def cited(children: Sequence[ChannelId]) -> None:
        _log.warning("children keep a conversation that their decisions cite", channels=list(children))

    def unswept(error: BaseException) -> None:
        _log.warning("a sweep of old operations broke off", error=type(error).__name__, detail=str(error))

    async def ready() -> None:
        if stop.is_set():
            raise Closing()
        await storage.health()

    async with _stopped_by_signals(stop):
        try:
            async with running(
                storage,
                engine,
                owner=owner,
                failed=failed,
                lost=lost,
                cited=cited,
                unswept=unswept,
                retention=retention,
            ) as chopin:
                shell = make_shell(chopin, ready)
                async with shell.running, heap_trimmed():
                    faults += await _served(shell.app, listener, chopin, stop, serving)
        except LeaseHeld:
            raise
        except (ChopinError, TimeoutError) as error:
            _log.error("drain step failed", step="lease", error=type(error).__name__, detail=str(error))
            faults.append("lease")
    _log.info("drained", faults=faults)
    return 1 if faults else 0


async def _served(
    app: ASGIApp, listener: socket.socket, chopin: Chopin, stop: asyncio.Event, serving: Callable[[], None]
) -> list[str]:
    """Serve until told to stop, then close rooms and server; the steps that failed."""
    loop = asyncio.get_running_loop()
    closing = asyncio.Event()
    server = loop.create_task(serve_on_hypercorn(app, listener, closing))
    stopped = loop.create_task(stop.wait())
    serving()
    await asyncio.wait([server, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    stop.set()
    faults = await _tried("sweeper", chopin.sweeper.close())
    # Rooms before sockets: what was taken in becomes durable and is acknowledged while the sockets still stand.
    faults += await _tried("rooms", chopin.rooms.close())
    closing.set()
    return faults + await _tried("server", server)


@asynccontextmanager
async def _stopped_by_signals(stop: asyncio.Event) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


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
    return socket.create_server((host, port), family=family, backlog=512)
