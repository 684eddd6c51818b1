"""The shell on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from shell_site import SERVERS, Site, running_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with running_site() as running:
        yield running


@pytest.fixture(params=sorted(SERVERS))
async def any_site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    """The socket must not depend on which server carries it."""
    async with running_site(request.param) as running:
        yield running
