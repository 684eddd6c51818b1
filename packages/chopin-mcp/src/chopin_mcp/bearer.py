"""The guard before the MCP endpoint: who calls, from where, with what; everything it refuses it answers in plain text."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import attrs

from chopin_core.errors import Unavailable
from chopin_core.people import Person
from chopin_core.ports.authority import Authority

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

PERSON: Final = "chopin.person"
"""The key of an HTTP scope under which the guard leaves the person it recognised."""

TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
"""What a bearer token may look like (RFC 6750 §2.1); an authority need not be ready for anything else."""

CHALLENGE: Final = b'Bearer realm="chopin"'
INVALID_TOKEN: Final = CHALLENGE + b', error="invalid_token", error_description="the token is unknown or has expired"'

PRIVATE: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


@attrs.frozen(kw_only=True)
class BearerGuard:
    """
    Lets POST requests of known people through to ``app``, with the person in the scope.

    A browser page names its ``Origin``, and only our own may call; agents name none.
    """

    app: App
    authority: Authority
    origin: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = _private(send)
        if any(origin != self.origin.encode() for origin in _values(scope, b"origin")):
            await _plain(send, HTTPStatus.FORBIDDEN, "This origin may not call the MCP endpoint.")
            return
        token = _token(scope)
        if token is None:
            await _plain(
                send,
                HTTPStatus.UNAUTHORIZED,
                "Send the header Authorization: Bearer TOKEN.",
                [(b"www-authenticate", CHALLENGE)],
            )
            return
        try:
            person = await self.authority.bearer(token) if TOKEN.fullmatch(token) else None
        except Unavailable:
            later = (b"retry-after", b"5")
            await _plain(send, HTTPStatus.SERVICE_UNAVAILABLE, "The token cannot be checked right now.", [later])
            return
        if person is None:
            challenge = (b"www-authenticate", INVALID_TOKEN)
            await _plain(send, HTTPStatus.UNAUTHORIZED, "The token is unknown or has expired.", [challenge])
            return
        if scope["method"] != "POST":
            # Without sessions there is nothing to stream and nothing to delete. Clients take 405 on GET as "no stream" and
            # go on; an empty stream that ends makes them connect again and again.
            await _plain(send, HTTPStatus.METHOD_NOT_ALLOWED, "Only POST is served here.", [(b"allow", b"POST")])
            return
        await self.app({**scope, PERSON: person}, receive, send)


def person_of(scope: Scope) -> Person:
    """The person whom the guard let through."""
    person: Person = scope[PERSON]
    return person


def _values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for given, value in scope["headers"] if given == name]


def _token(scope: Scope) -> str | None:
    """The bearer token, or None when there is none or no telling which of several is meant."""
    match _values(scope, b"authorization"):
        case [value]:
            scheme, _, token = value.decode("latin-1").partition(" ")
            return token.strip() or None if scheme.lower() == "bearer" else None
        case _:
            return None


def _private(send: Send) -> Send:
    """Keeps every answer out of caches and its type from being guessed."""
    names = {name for name, _ in PRIVATE}

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in names]
            message = {**message, "headers": [*kept, *PRIVATE]}
        await send(message)

    return sending


async def _plain(send: Send, status: HTTPStatus, text: str, headers: Headers | None = None) -> None:
    body = f"{text}\n".encode()
    described: Headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": int(status), "headers": [*described, *(headers or [])]})
    await send({"type": "http.response.body", "body": body})
