"""What a page and the server have said to each other, read off the page's sockets."""

from __future__ import annotations

import base64
import json
from typing import Any

from playwright.async_api import Page, WebSocket

from chopin_core.engines.pycrdt import PycrdtEngine


class Frames:
    """Listens from the moment it is made, so make it before the page opens a document."""

    def __init__(self, page: Page) -> None:
        self.sent: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []
        self.sockets = 0
        page.on("websocket", self._follow)

    def _follow(self, socket: WebSocket) -> None:
        self.sockets += 1
        socket.on("framesent", lambda text: self.sent.append(json.loads(text)))
        socket.on("framereceived", lambda text: self.received.append(json.loads(text)))

    @property
    def acknowledged(self) -> set[str]:
        return {frame["id"] for frame in self.received if frame["kind"] == "plan:ack"}

    def acknowledged_text(self) -> str:
        """The text as far as it was acknowledged to this page, its only writer, on a document it saw begin empty."""
        document = PycrdtEngine().new()
        acknowledged = self.acknowledged
        for frame in self.sent:
            if frame["kind"] == "plan:update" and frame["id"] in acknowledged:
                document.apply(base64.b64decode(frame["update"]))
        return document.text
