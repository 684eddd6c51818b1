"""What every browser test needs: a browser, a server, people; and pictures of what they saw when a test fails."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from .chromium import find_chromium, launch
from .people import Person, sign_in
from .server import Server
from .wire import Wire

HERE = Path(__file__).parent
OUT = HERE / "out"
SECONDS = 60

NewPerson = Callable[..., Awaitable[Person]]

_failed = pytest.StashKey[bool]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One event loop for all, since they share a browser; a bound on each; and no run at all where nothing could be shown."""
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    if not ours:
        return
    if find_chromium() is None:
        raise pytest.UsageError("no Chromium: install Debian's package `chromium`, or name one in CHROMIUM")
    for item in ours:
        item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:  # type: ignore[attr-defined]  # because the report that pluggy sends in has no type
        item.stash[_failed] = True
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await launch(playwright.chromium)
        yield launched
        await launched.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """The data directory and port of a module's server; nothing of it is running afterwards."""
    house = Server(tmp_path_factory.mktemp("server"))
    yield house
    await house.end()


@pytest_asyncio.fixture(loop_scope="session")
async def server(house: Server) -> Server:
    """A running server. A test may stop or kill it; tests share it, and take a document each."""
    if not house.running:
        await house.start()
    return house


@pytest_asyncio.fixture(loop_scope="session")
async def wire() -> AsyncIterator[Wire]:
    async with Wire() as between:
        yield between


@pytest_asyncio.fixture(loop_scope="session")
async def new_person(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[NewPerson]:
    """Signs people in. Afterwards no page of theirs may have crashed or broken its security policy."""
    people: list[Person] = []
    trace = "CHOPIN_TRACE" in os.environ

    async def arrive(server: Server, name: str, **context: object) -> Person:
        person = await sign_in(browser, server, name, **context)
        people.append(person)
        if trace:
            await person.context.tracing.start(screenshots=True, snapshots=True)
        return person

    yield arrive
    node: pytest.Item = request.node
    file = re.sub(r"\W+", "-", node.name)
    for person in people:
        if node.stash.get(_failed, False):
            OUT.mkdir(exist_ok=True)
            for number, page in enumerate(person.context.pages):
                await page.screenshot(path=OUT / f"{file}-{person.name}-{number}.png")
            shutil.copyfile(person.server.log, OUT / f"{file}-server.log")
        if trace and person.context.pages:
            await person.context.tracing.stop(path=OUT / f"{file}-{person.name}.zip")
        await person.context.close()
    assert [fault for person in people for fault in person.faults] == []
