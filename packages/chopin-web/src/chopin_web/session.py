"""Who am I: the one route of the session that does not depend on how people sign in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from chopin_web.access import Access
from chopin_web.presentation import person_object


class SessionRoutes:
    def __init__(self, access: Access, mode: str) -> None:
        self._access = access
        self._mode = mode

    def routes(self) -> list[BaseRoute]:
        return [Route("/api/session", self.session, methods=["GET"])]

    async def session(self, request: Request) -> JSONResponse:
        person = await self._access.person(request)
        return JSONResponse({"person": person_object(person), "mode": self._mode, "agent": False})
