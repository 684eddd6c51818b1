"""A phone's width, and a keyboard alone: everything fits and everything can be reached."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from .agent import agent, creation, facts
from .conftest import NewPerson
from .people import Person
from .server import PROJECT, Server

PHONE = {"width": 320, "height": 568}
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
SOURCE = f"""# {LONG}

A paragraph with `{LONG}` and https://example.org/{LONG}.

- one
    - two
        - three with {LONG}

| a | b | c |
|---|---|---|
| {LONG} | {LONG} | c |

```python
{LONG} = "{LONG}"
```

> quoted {LONG}
"""

_BEYOND = """
() => {
  const width = document.documentElement.clientWidth;
  const sticking = [...document.querySelectorAll("body *")].filter(element => {
    const box = element.getBoundingClientRect();
    const shown = box.width > 1 && box.height > 1 && getComputedStyle(element).visibility !== "hidden";
    return shown && (box.right > width + 0.5 || box.left < -0.5);
  });
  const scrolls = document.documentElement.scrollWidth - width;
  return { scrolls, sticking: sticking.map(element => element.outerHTML.slice(0, 120)) };
}
"""

_FOCUSED = """
() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const look = target => {
    const looks = [undefined, "::before", "::after"].map(part => {
      const style = getComputedStyle(target, part);
      const outline = style.outlineStyle === "none" ? "none" : style.outlineWidth + style.outlineColor;
      return [outline, style.boxShadow, style.borderColor, style.backgroundColor];
    });
    return JSON.stringify(looks);
  };
  const focused = look(element);
  element.blur();
  const blurred = look(element);
  element.focus({ focusVisible: true });
  const name = element.getAttribute("aria-label") ?? element.textContent.trim();
  return { name, shows: focused !== blurred || element.isContentEditable };
}
"""

_FOCUSED_NAME = """
() => {
  const element = document.activeElement;
  return element === document.body ? "" : element.getAttribute("aria-label") ?? element.textContent;
}
"""

_CONTROLS = """
() => [...document.querySelectorAll("a[href], button, input, textarea, [contenteditable=true]")]
  .filter(element => element.checkVisibility() && !element.disabled)
  .map(element => element.getAttribute("aria-label") ?? element.textContent.trim())
"""

_FROM_THE_TOP = """
() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}
"""


async def _fits(page: Page) -> None:
    found = await page.evaluate(_BEYOND)
    assert found == {"scrolls": 0, "sticking": []}


async def _tabbed(page: Page) -> list[dict[str, Any]]:
    """What the Tab key leads through, from the top of the page to its end."""
    await page.evaluate(_FROM_THE_TOP)
    stops: list[dict[str, Any]] = []
    for _ in range(60):
        await page.keyboard.press("Tab")
        stop = await page.evaluate(_FOCUSED)
        if stop is None or stop in stops[:1]:
            break
        stops.append(stop)
    return stops


async def _reachable(page: Page) -> None:
    stops = await _tabbed(page)
    assert sorted(stop["name"] for stop in stops) == sorted(await page.evaluate(_CONTROLS))
    assert [stop["name"] for stop in stops if not stop["shows"]] == []


async def _at(page: str, server: Server, person: Person) -> None:
    match page:
        case "projects":
            await person.goto("/")
            await expect(person.page.get_by_role("list", name="Projects")).to_be_visible()
        case "documents":
            await _long_document(server, person)
            await person.goto(f"/documents/{PROJECT}")
            await expect(person.page.get_by_role("list", name="Documents")).to_be_visible()
        case "editor":
            await _long_document(server, person)
        case "renaming":
            await _long_document(server, person)
            await person.page.get_by_role("button", name="rename document").click()
        case "not found":
            await person.goto(f"/documents/{PROJECT}-{LONG}/none")
            await expect(person.page.get_by_role("heading", level=1)).to_have_text("Not found")


async def _long_document(server: Server, person: Person) -> None:
    async with agent(server) as client:
        created = facts(await client.call_tool("create_document", creation("long", f"The {LONG}"[:120], SOURCE)))
    await person.page.goto(created["url"])
    await person.ready()


PAGES = ["projects", "documents", "editor", "renaming", "not found"]


@pytest.mark.parametrize("page", PAGES)
async def test_on_a_phone_nothing_sticks_out(page: str, server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada", viewport=PHONE, has_touch=True, is_mobile=True)
    await _at(page, server, ada)
    await _fits(ada.page)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1200, "height": 800}], ids=["phone", "desktop"])
async def test_the_tab_key_leads_to_everything_and_shows_where_it_is(
    page: str, viewport: dict[str, int], server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", viewport=viewport)
    await _at(page, server, ada)
    await _reachable(ada.page)


async def test_signed_out_on_a_phone_everything_fits_too(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada", viewport=PHONE)
    await ada.context.clear_cookies()
    await ada.goto(f"/documents/{PROJECT}")
    await expect(ada.page.get_by_role("heading", level=1)).to_have_text("You are signed out")
    await _fits(ada.page)
    await _reachable(ada.page)


async def test_a_document_is_made_named_and_written_with_the_keyboard_alone(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada", viewport=PHONE)
    await expect(ada.page.get_by_role("list", name="Projects")).to_be_visible()
    await _tab_to(ada.page, PROJECT)
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("heading", level=1)).to_be_focused()
    await expect(ada.page.get_by_role("button", name="New document")).to_be_visible()
    await _tab_to(ada.page, "New document")
    await ada.page.keyboard.press("Enter")
    await ada.ready()
    await ada.page.keyboard.type("Written without a mouse")
    await _tab_to(ada.page, "rename document", key="Shift+Tab")
    await ada.page.keyboard.press("Enter")
    await ada.page.keyboard.type("Named without a mouse")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("heading", level=1)).to_contain_text("Named without a mouse")
    await _tab_to(ada.page, "Here now: ada (you)")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("dialog", name="Here now")).to_be_visible()
    await _fits(ada.page)
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_test_id("people")).to_be_focused()
    await _tab_to(ada.page, "Document text")
    await ada.page.keyboard.type("!")
    await ada.sees_state("saved")


async def _tab_to(page: Page, name: str, *, key: str = "Tab") -> None:
    for _ in range(20):
        await page.keyboard.press(key)
        if name in str(await page.evaluate(_FOCUSED_NAME)):
            return
    raise AssertionError(f"no way to {name}")


async def test_a_touch_opens_the_document_and_puts_the_caret_where_it_was_touched(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada", viewport=PHONE, has_touch=True, is_mobile=True)
    document = await ada.create_document("Touched")
    await ada.goto(f"/documents/{PROJECT}")
    await ada.page.get_by_role("link", name=document.title).tap()
    await ada.ready()
    await ada.type("one\ntwo")
    await ada.page.get_by_text("one").tap(position={"x": 1, "y": 8})
    await ada.page.keyboard.type(">")
    await ada.sees_text(">one\ntwo")
