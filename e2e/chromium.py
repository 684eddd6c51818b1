"""Which browser the tests drive, and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.async_api import Browser, BrowserType

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """The browser that ``CHROMIUM`` names, or else the one on the path."""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named or "chromium")


async def launch(kind: BrowserType) -> Browser:
    """A browser with a profile of its own, which goes with it; ``CHOPIN_HEADED`` shows it."""
    executable = find_chromium()
    assert executable is not None, "asked before anything is collected"
    return await kind.launch(executable_path=Path(executable), headless="CHOPIN_HEADED" not in os.environ, args=list(ARGUMENTS))
