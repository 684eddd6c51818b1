"""What stands before every route, and what every answer carries."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from chopin_core.errors import StorageUnavailable
from chopin_web import client_files

from shell_site import Site, running_site


@pytest.mark.parametrize("path", ["/", "/api/session", "/health/live", "/ws", "/assets/x.js", "/nowhere", "/mcp"])
@pytest.mark.parametrize("host", ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
async def test_another_host_name_is_refused_on_every_route(site: Site, path: str, host: str) -> None:
    async with site.person("ada") as ada:
        assert (await ada.get(path, headers={"host": host})).status_code == 403


@pytest.mark.parametrize("path", ["/", "/documents/ada/engine", "/api/session", "/health/live", "/nowhere/x", "/api/no"])
async def test_every_answer_carries_the_security_headers(site: Site, path: str) -> None:
    async with site.person("ada") as ada:
        headers = (await ada.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cache-control"] in ("no-store", "no-cache")


async def test_the_page_has_a_fresh_nonce_in_its_policy_and_in_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routes = client_files.ClientRoutes()
    monkeypatch.setattr(routes, "_page", f'<meta name="csp-nonce" content="{client_files.NONCE_MARK}">')
    seen = set()
    request = Request({"type": "http", "path_params": {"path": ""}, "headers": []})
    for _ in range(2):
        answer = await routes.page(request)
        nonce = re.search(r'content="([^"]+)"', bytes(answer.body).decode())
        assert nonce is not None
        assert f"'nonce-{nonce[1]}'" in answer.headers["content-security-policy"]
        seen.add(nonce[1])
    assert len(seen) == 2


@pytest.mark.parametrize("path", ["/assets/%2e%2e%2fmain.py", "/assets/%2e%2e/main.py", "/assets//etc/passwd", "/assets/"])
async def test_nothing_outside_the_built_assets_can_be_asked_for(site: Site, path: str) -> None:
    async with site.person("ada") as ada:
        assert (await ada.get(path)).status_code == 404


async def test_an_asset_that_an_upgrade_took_away_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    asset = tmp_path / "assets" / "main-1.js"
    asset.write_text("1", encoding="utf-8")
    routes = client_files.ClientRoutes(tmp_path)
    request = Request({"type": "http", "path_params": {"name": asset.name}, "headers": []})
    assert (await routes.asset(request)).status_code == 200
    asset.unlink()
    with pytest.raises(HTTPException) as refused:
        await routes.asset(request)
    assert refused.value.status_code == 404


async def test_readiness_follows_storage_and_liveness_does_not(site: Site) -> None:
    async with httpx.AsyncClient(base_url=site.origin) as probe:
        assert (await probe.get("/health/ready")).status_code == 200
        await site.storage.close()
        assert (await probe.get("/health/ready")).status_code == 503
        assert (await probe.get("/health/live")).status_code == 200


async def test_readiness_does_not_wait_for_a_storage_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chopin_web.health.PATIENCE", 0.05)

    async def hangs() -> None:
        await asyncio.sleep(60)
        raise StorageUnavailable("never")

    async with running_site(ready=hangs) as site, httpx.AsyncClient(base_url=site.origin) as probe:
        assert (await probe.get("/health/ready")).json() == {"status": "unavailable", "reason": "TimeoutError"}
