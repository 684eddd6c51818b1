"""The HTTP routes of repositories and channels: list, create, open by address or id, rename."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from chopin_core.documents import Documents
from chopin_web.access import Access, not_found, require_write
from chopin_web.bodies import json_object
from chopin_web.guards import require_origin
from chopin_web.paging import parse_list_request
from chopin_web.presentation import channel_object, channel_path, document_object, repository_object

_TITLE = frozenset({"title"})


class ChannelRoutes:
    """Each endpoint reads the request, asks the core one thing and writes the answer."""

    def __init__(self, documents: Documents, access: Access, origin: str) -> None:
        self._documents = documents
        self._access = access
        self._origin = origin

    def routes(self) -> list[BaseRoute]:
        channels = "/api/repositories/{owner}/{repository}/channels"
        return [
            Route("/api/repositories", self.repositories, methods=["GET"]),
            Route(channels, self.list, methods=["GET"]),
            Route(channels, self.create, methods=["POST"]),
            Route("/api/repositories/{owner}/{repository}/documents/{slug}", self.resolve, methods=["GET"]),
            Route("/api/channels/{channel}", self.get, methods=["GET"]),
            Route("/api/channels/{channel}", self.rename, methods=["PATCH"]),
        ]

    async def repositories(self, request: Request) -> JSONResponse:
        person = await self._access.person(request)
        seen = await self._access.authority.repositories(person)
        return JSONResponse({"repositories": [repository_object(access) for access in seen]})

    async def list(self, request: Request) -> JSONResponse:
        person = await self._access.person(request)
        access = await self._access.repository(person, **_names(request))
        wanted = parse_list_request(request.query_params)
        page = await self._documents.list(
            access.repository.id,
            limit=wanted.limit,
            after=wanted.after,
            query=wanted.query,
            include_archived=wanted.include_archived,
        )
        answer: dict[str, Any] = {
            "repository": repository_object(access),
            "canEdit": access.role.writes,
            "channels": [channel_object(channel) for channel in page.channels],
        }
        if page.next is not None:
            answer["nextCursor"] = wanted.cursor(page.next)
        return JSONResponse(answer)

    async def create(self, request: Request) -> JSONResponse:
        require_origin(request, self._origin)
        person = await self._access.person(request)
        access = await self._access.repository(person, **_names(request))
        require_write(access)
        title = (await json_object(request, _TITLE)).get("title")
        channel = await self._documents.create_blank(access.repository, title, by=person)
        return JSONResponse(document_object(channel, access), status_code=201, headers={"location": channel_path(channel)})

    async def resolve(self, request: Request) -> JSONResponse:
        person = await self._access.person(request)
        access = await self._access.repository(person, **_names(request))
        channel = await self._documents.resolve(access.repository.id, request.path_params["slug"])
        if channel is None:
            raise not_found()
        return JSONResponse(document_object(channel, access))

    async def get(self, request: Request) -> JSONResponse:
        person = await self._access.person(request)
        channel, access = await self._access.channel(person, request.path_params["channel"])
        return JSONResponse(document_object(channel, access))

    async def rename(self, request: Request) -> JSONResponse:
        require_origin(request, self._origin)
        person = await self._access.person(request)
        channel, access = await self._access.channel(person, request.path_params["channel"])
        require_write(access)
        body = await json_object(request, _TITLE)
        if "title" not in body:
            raise HTTPException(400, "title is missing")
        renamed = await self._documents.rename(channel.id, body["title"])
        return JSONResponse(document_object(renamed, access))


def _names(request: Request) -> dict[str, str]:
    return {"owner": request.path_params["owner"], "name": request.path_params["repository"]}
