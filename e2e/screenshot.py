"""Makes docs/images/editor.png: two people in a document. Run it with ``python -m e2e.screenshot``."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from .agent import agent, creation, facts
from .chromium import launch
from .people import sign_in
from .server import Server
from .waiting import eventually

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "editor.png"
SOURCE = """# Heat pump for the workshop

The oil boiler is from **1994** and needs a new burner. This plan replaces it before the
next winter; see the [survey](https://example.org/survey) for the rooms.

## What we know

- The hall loses about 14 kW at −10 °C, the office 3 kW.
- The roof carries *at most* 80 kg/m², so the unit stands outside.
- Power: 3 × 35 A, of which `16 A` are free.

## Steps

1. Measure the flow temperature for two cold weeks.
2. Insulate the ceiling of the hall first.
3. Order the pump.

> The grant must be approved *before* the order is placed.

```python
heat_demand = 14.0 + 3.0  # kW at -10 °C
```
"""


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory))
        try:
            await server.start()
            async with async_playwright() as playwright:
                browser = await launch(playwright.chromium)
                await _take(server, browser)
                await browser.close()
        finally:
            await server.end()


async def _take(server: Server, browser: Browser) -> None:
    wanted = creation("picture", "Heat pump for the workshop", SOURCE)
    async with agent(server) as client:
        url = facts(await client.call_tool("create_document", wanted))["url"]
    ada, ben, sam = [await sign_in(browser, server, name) for name in ("ada", "ben", "sam")]
    for person in (ada, ben, sam):
        await person.page.goto(url)
        await person.ready()
    await ben.page.get_by_text("The roof carries").click()
    await ben.page.keyboard.press("End")
    await ben.page.keyboard.type(" Ask the neighbour first.", delay=20)
    await sam.page.get_by_text("Insulate the ceiling").click()
    await sam.page.keyboard.press("End")
    for _ in range(len("hall first.")):
        await sam.page.keyboard.press("Shift+ArrowLeft")
    await ada.page.get_by_text("Order the pump.").click()
    await ada.page.keyboard.press("End")
    await eventually(ada.carets, ["ben", "sam"])
    await ada.sees_state("saved")
    # The bar keeps saying "Saving…" for a moment, so that it does not flicker while somebody types.
    await asyncio.sleep(1)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    await ada.page.screenshot(path=PICTURE, caret="initial")


if __name__ == "__main__":
    asyncio.run(main())
