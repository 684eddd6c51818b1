"""Liveness (the process answers) and readiness (it may write and storage works)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from chopin_core.errors import ChopinError

PATIENCE = 5.0


class HealthRoutes:
    """``ready`` returns when all is well and raises a ``ChopinError`` when it is not."""

    def __init__(self, ready: Callable[[], Awaitable[None]]) -> None:
        self._ready = ready

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/health/live", self.live, methods=["GET"]),
            Route("/health/ready", self.ready, methods=["GET"]),
        ]

    async def live(self, request: Request) -> JSONResponse:
        return JSONResponse({"status": "live"})

    async def ready(self, request: Request) -> JSONResponse:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._ready()
        except (ChopinError, TimeoutError) as error:
            return JSONResponse({"status": "unavailable", "reason": type(error).__name__}, status_code=503)
        return JSONResponse({"status": "ready"})
