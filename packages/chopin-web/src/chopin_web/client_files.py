"""The built browser client: its assets, and the one page that every address of the product shows."""

from __future__ import annotations

import secrets
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

BUILT = Path(__file__).parent / "static"
NONCE_MARK = "__CSP_NONCE__"
_NOT_PAGES = ("api", "auth", "health", "mcp", "ws", "assets")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class ClientRoutes:
    """Assets carry a hash in their name and may be kept for ever; the page is made anew for each answer."""

    def __init__(self, built: Path = BUILT) -> None:
        self._built = built
        index = built / "index.html"
        self._page = index.read_text(encoding="utf-8") if index.is_file() else None
        assets = built / "assets"
        self._assets = {path.name: path for path in assets.iterdir()} if assets.is_dir() else {}

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/assets/{name}", self.asset, methods=["GET"]),
            Route("/{path:path}", self.page, methods=["GET"]),
        ]

    async def asset(self, request: Request) -> Response:
        # Looked up, never joined to a path: what is not in the built folder cannot be asked for.
        path = self._assets.get(request.path_params["name"])
        if path is None or not path.is_file():  # gone: an upgrade is replacing what this process serves
            raise HTTPException(404, "Not found")
        return FileResponse(path, headers={"cache-control": "public, max-age=31536000, immutable"})

    async def page(self, request: Request) -> Response:
        if request.path_params["path"].partition("/")[0] in _NOT_PAGES:
            raise HTTPException(404, "Not found")
        if self._page is None:
            raise HTTPException(404, "The browser client is not built; run `make client`")
        nonce = secrets.token_urlsafe(16)
        return HTMLResponse(
            self._page.replace(NONCE_MARK, nonce),
            headers={"content-security-policy": _POLICY.format(nonce=nonce), "cache-control": "no-cache"},
        )
