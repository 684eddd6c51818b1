"""The document socket: who may open it, and the loop that serves one connection."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from chopin_core.channel import Channel
from chopin_core.errors import ChopinError
from chopin_core.people import Person
from chopin_core.room.room import Room
from chopin_core.room.rooms import Rooms
from chopin_web.access import Access
from chopin_web.admission import MEMORY, Admission, Verdict
from chopin_web.close_codes import CloseCode
from chopin_web.conversation import Conversation
from chopin_web.frames import session
from chopin_web.frames.envelope import LARGEST_FRAME, Frame, parse
from chopin_web.guards import require_origin
from chopin_web.outbox import Outbox
from chopin_web.refusals import answer, sentence_of, status_of

PROBE = "x-chopin-socket-probe"
SILENCE = 150.0
"""Seconds after which who says nothing is taken for gone. Browsers ping every ten seconds, hidden tabs once a minute."""

LAST_WORDS = 1.0
"""Seconds that a reader who does not read has to take the close."""

_log = structlog.get_logger("chopin.socket")


class SocketRoutes:
    """``/ws?channel=…``, and the probe by which a browser learns why it was refused (protocol spec §2.1)."""

    def __init__(self, rooms: Rooms, access: Access, origin: str) -> None:
        self._rooms = rooms
        self._access = access
        self._origin = origin

    def routes(self) -> list[BaseRoute]:
        return [Route("/ws", self.probe, methods=["GET"]), WebSocketRoute("/ws", self.socket)]

    async def probe(self, request: Request) -> Response:
        await self._admitted(request)
        if request.headers.get(PROBE) != "1":
            raise HTTPException(400, "This address is for WebSockets")
        return Response(status_code=204)

    async def socket(self, websocket: WebSocket) -> None:
        try:
            person, channel, admission = await self._admitted(websocket)
        except HTTPException as refusal:
            await websocket.send_denial_response(answer(refusal.status_code, refusal.detail))
            return
        except ChopinError as error:
            await websocket.send_denial_response(answer(status_of(error) or 500, sentence_of(error)))
            return
        await websocket.accept()
        log = _log.bind(channel=channel.id, login=person.login)
        try:
            async with self._rooms.hold(channel.id) as room:
                await _serve(websocket, room, person, admission, log)
        except ChopinError as error:
            log.warning("document could not be opened", error=type(error).__name__, detail=str(error))
            await _close(websocket, CloseCode.INTERNAL_ERROR)

    async def _admitted(self, connection: Request | WebSocket) -> tuple[Person, Channel, Admission]:
        require_origin(connection, self._origin, missing_is_fine=isinstance(connection, Request))
        person = await self._access.person(connection)
        channel, granted = await self._access.channel(person, connection.query_params.get("channel"))
        return person, channel, Admission(self._access, connection, person, channel, granted)


async def _serve(
    websocket: WebSocket, room: Room, person: Person, admission: Admission, log: structlog.typing.FilteringBoundLogger
) -> None:
    """One connection, from hello to the end; whatever ends it, the room is left and the socket closed."""
    outbox = Outbox()
    conversation = Conversation(room, person.login, admission, outbox, log)
    room.join(conversation)
    conversation.greet()
    log.info("socket opened", client=conversation.view.client)
    parts = [
        _until_left(websocket, conversation, outbox, log),
        _written(websocket, outbox),
        _watched(admission, conversation),
        outbox.overflowed.wait(),
    ]
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        room.leave(conversation)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("socket failed", error=type(error).__name__, exc_info=error)
        if (code := outbox.closing) is not None:
            await _close(websocket, code)
        log.info("socket closed", client=conversation.view.client)


async def _until_left(
    websocket: WebSocket, conversation: Conversation, outbox: Outbox, log: structlog.typing.FilteringBoundLogger
) -> None:
    while True:
        try:
            async with asyncio.timeout(SILENCE):
                message = await websocket.receive()
        except TimeoutError:
            outbox.close(CloseCode.RESTART)
            return
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is not None and len(text) > LARGEST_FRAME:
            outbox.close(CloseCode.MESSAGE_TOO_BIG)
            return
        frame = parse(text) if text is not None else None
        if frame is not None:
            await _answered(conversation.take, frame, outbox, log)


async def _answered(
    take: Callable[[Frame], Awaitable[None]],
    frame: Frame,
    outbox: Outbox,
    log: structlog.typing.FilteringBoundLogger,
) -> None:
    # An error that escaped a socket endpoint would be answered with an HTTP response down the WebSocket.
    try:
        await take(frame)
    except ChopinError as error:
        log.warning("frame failed", kind=frame.kind, error=type(error).__name__, detail=str(error))
        outbox.put(session.error(sentence_of(error), frame.rid))
    except Exception as error:
        log.error("frame crashed", kind=frame.kind, error=type(error).__name__, exc_info=error)
        outbox.put(session.error("Internal error", frame.rid))
        outbox.close(CloseCode.INTERNAL_ERROR)


async def _written(websocket: WebSocket, outbox: Outbox) -> None:
    while True:
        item = await outbox.next()
        if isinstance(item, CloseCode):
            await _close(websocket, item)
            return
        try:
            await websocket.send_text(item)
        except (WebSocketDisconnect, RuntimeError):
            return  # gone while we wrote; the reading half tells the room


async def _watched(admission: Admission, conversation: Conversation) -> None:
    while True:
        await asyncio.sleep(MEMORY)
        could = admission.can_manage
        verdict = await admission.renewed(now=True)
        if verdict is Verdict.DENIED:
            conversation.lose_access()
        elif verdict is Verdict.ALLOWED and admission.can_manage != could:
            conversation.tell_access()


async def _close(websocket: WebSocket, code: CloseCode) -> None:
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(LAST_WORDS):
            await websocket.close(code)
