"""Signing in with the link that was printed at the start, and signing out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from chopin_web.guards import require_origin
from chopin_web.local.authority import SESSION_SECONDS, LocalAuthority
from chopin_web.refusals import answer

PATH = "/auth/local"


class LocalSignIn:
    """``/auth/local?token=…[&as=NAME][&return_to=/documents/…]`` sets the session's cookie and goes on."""

    def __init__(self, authority: LocalAuthority, *, origin: str, cookie: str) -> None:
        self._authority = authority
        self._origin = origin
        self._cookie = cookie

    def routes(self) -> list[BaseRoute]:
        return [
            Route(PATH, self.enter, methods=["GET"]),
            Route("/auth/logout", self.leave, methods=["POST"]),
        ]

    async def enter(self, request: Request) -> Response:
        query = request.query_params
        secret = self._authority.sign_in(query.get("token", ""), query.get("as"))
        if secret is None:
            return answer(401, "This sign-in link is not valid; use the one printed in the terminal")
        # An absolute address of our own: a path alone could be read as another host.
        response = RedirectResponse(self._origin + return_path(query.get("return_to", "/")), status_code=303)
        response.set_cookie(
            self._cookie, secret, max_age=SESSION_SECONDS, path="/", httponly=True, samesite="lax", secure=False
        )
        return response

    async def leave(self, request: Request) -> Response:
        require_origin(request, self._origin)
        response = Response(status_code=204)
        response.delete_cookie(self._cookie, path="/", httponly=True, samesite="lax")
        return response


def return_path(wanted: str) -> str:
    """The path to go on to after signing in: a page of ours, or the start."""
    page = wanted.startswith("/") and not wanted.startswith("//") and wanted.isprintable() and "\\" not in wanted
    inside = wanted[1:].partition("/")[0].partition("?")[0]
    return wanted if page and inside not in ("api", "auth", "mcp", "ws", "health") else "/"
