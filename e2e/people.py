"""People: each signed in with a browser profile of their own, and what they do and see in an open document."""

from __future__ import annotations

import re
from typing import Any

import attrs
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect

from chopin_core.ids import ChannelId

from .server import PROJECT, Server
from .waiting import eventually

DESKTOP = {"width": 1200, "height": 800}
HEADLESS_CLIPBOARD = ("clipboard-read", "clipboard-write")

_NETWORK = re.compile(r"Failed to load resource|WebSocket connection to .* failed|net::ERR_")
_SEEN = """
editor => [...editor.querySelectorAll(".cm-line")].map(line => {
  const shown = line.cloneNode(true);
  for (const other of shown.querySelectorAll(".peer-caret, .cm-placeholder")) other.remove();
  return shown.textContent.replaceAll("\\u200b", "");
}).join("\\n")
"""
_BEFORE = """
(editor, name) => {
  const caret = [...editor.querySelectorAll(".peer-caret")].find(caret => caret.textContent.includes(name));
  if (caret === undefined) return null;
  const box = caret.getBoundingClientRect();
  const range = document.caretRangeFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  const line = range?.startContainer.parentElement.closest(".cm-line");
  if (!line) return null;
  range.setStart(line, 0);
  return range.toString();
}
"""


@attrs.frozen(kw_only=True)
class Document:
    """A document as it was when it was made."""

    id: ChannelId
    path: str
    title: str


@attrs.define(kw_only=True)
class Person:
    """Somebody at a browser. ``faults`` is what the browser complained of, other than the network."""

    name: str
    server: Server
    context: BrowserContext
    page: Page
    faults: list[str] = attrs.field(factory=list)

    async def goto(self, path: str) -> None:
        await self.page.goto(self.server.origin + path)

    async def create_document(self, title: str | None = None) -> Document:
        """A new, empty document; made without the interface, for tests of something else."""
        answer = await self.context.request.post(
            f"{self.server.origin}/api/repositories/{PROJECT}/channels",
            data={} if title is None else {"title": title},
            headers={"origin": self.server.origin},
        )
        assert answer.status == 201, await answer.text()
        channel = (await answer.json())["channel"]
        return Document(id=ChannelId(channel["id"]), path=answer.headers["location"], title=channel["title"])

    async def open(self, document: Document) -> None:
        """Open a document, and wait until one can write in it."""
        await self.goto(document.path)
        await self.ready()

    async def ready(self) -> None:
        await expect(self.editor).to_have_attribute("contenteditable", "true")
        await self.sees_state("saved")

    # The text

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("textbox", name="Document text")

    async def text(self) -> str:
        """The text as the page shows it, without the marks of others. Lines far out of sight are not there."""
        return str(await self.page.get_by_test_id("editor").evaluate(_SEEN))

    async def type(self, text: str, *, delay: float = 0) -> None:
        """Type at the end of the document, with this many milliseconds between two keys."""
        await self.editor.focus()
        await self.page.keyboard.press("Control+End")
        await self.page.keyboard.type(text, delay=delay)

    async def sees_text(self, text: str, *, within: float = 10.0) -> None:
        await eventually(self.text, text, within=within)

    async def notices_the_network(self) -> None:
        """Have the browser say that the network is back, so that nobody waits for the page's next attempt by itself."""
        await self.page.evaluate("window.dispatchEvent(new Event('online'))")

    # The bar

    @property
    def save_state(self) -> Locator:
        return self.page.get_by_test_id("save-state")

    async def state(self) -> str | None:
        return await self.save_state.get_attribute("data-state")

    async def sees_state(self, state: str, *, within: float = 10.0) -> None:
        await eventually(self.state, state, within=within)

    async def people(self) -> list[str]:
        """Who is here, as the bar names them."""
        said = await self.page.get_by_test_id("people").locator(".visually-hidden").text_content()
        return (said or "").removeprefix("Here now: ").split(", ")

    async def others(self) -> set[str]:
        """Who else is here."""
        return {person for person in await self.people() if not person.endswith("(you)")}

    async def carets(self) -> list[str]:
        """Whose carets are in the text, by name."""
        return sorted(await self.page.locator(".peer-caret .peer-name").all_text_contents())

    async def text_before_caret_of(self, name: str) -> object:
        """What stands in the line before the place where somebody's caret is drawn; None when it is not."""
        return await self.page.get_by_test_id("editor").evaluate(_BEFORE, name)


async def sign_in(browser: Browser, server: Server, name: str, **context: Any) -> Person:
    """A new browser profile that has followed the printed link as that person; ``context`` as Playwright takes it."""
    opened = await browser.new_context(**{"viewport": DESKTOP, **context})
    opened.set_default_timeout(15_000)
    await opened.grant_permissions(list(HEADLESS_CLIPBOARD), origin=server.origin)
    person = Person(name=name, server=server, context=opened, page=await opened.new_page())
    opened.on("weberror", lambda error: person.faults.append(str(error.error)))
    opened.on("console", lambda message: _note(message, person.faults))
    await person.page.goto(f"{server.link}&as={name}")
    return person


def _note(message: ConsoleMessage, faults: list[str]) -> None:
    if message.type == "error" and not _NETWORK.search(message.text):
        faults.append(message.text)
