"""The endpoint as HTTP: who is let in, what is refused before MCP begins, and headers on every answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from chopin_mcp.app import BODY_LIMIT

from agent_world import ORIGIN, Facts, Server, World

LIST: Facts = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def _post(server: Server, token: str | None = "ada-token", **headers: str) -> httpx2.Response:
    async with server.http(token) as http:
        return await http.post("/mcp", json=LIST, headers={**ACCEPT, **headers})


async def test_without_a_token_the_challenge_names_the_scheme_and_no_error(server: Server) -> None:
    response = await _post(server, None)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer realm="chopin"'
    assert response.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic YWRhOmFkYQ==", "ada-token"])
async def test_a_header_that_is_no_bearer_token_counts_as_none(header: str, server: Server) -> None:
    response = await _post(server, None, authorization=header)
    assert response.status_code == 401
    assert "error" not in response.headers["www-authenticate"]


@pytest.mark.parametrize("token", ["wrong", "ada-token2", "ada token", "ä", "\x7f"])
async def test_an_unknown_token_is_told_so(token: str, server: Server) -> None:
    async with server.http(None) as http:
        header = (b"authorization", f"Bearer {token}".encode())
        response = await http.post("/mcp", json=LIST, headers=[(b"accept", b"application/json"), header])
    assert response.status_code == 401
    assert 'error="invalid_token"' in response.headers["www-authenticate"]


async def test_two_tokens_are_no_token(server: Server) -> None:
    async with server.http(None) as http:
        twice = [("authorization", "Bearer ada-token"), ("authorization", "Bearer eve-token")]
        assert (await http.post("/mcp", json=LIST, headers=[*ACCEPT.items(), *twice])).status_code == 401


async def test_the_scheme_may_be_spelled_in_any_case(server: Server) -> None:
    assert (await _post(server, None, authorization="bearer  ada-token")).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", f"{ORIGIN}/", "http://localhost:8787", "HTTP://127.0.0.1:8787"]
)
async def test_another_origin_is_refused_even_with_a_token(origin: str, server: Server) -> None:
    assert (await _post(server, origin=origin)).status_code == 403
    assert (await _post(server, None, origin=origin)).status_code == 403


async def test_our_own_origin_and_none_are_let_in(server: Server) -> None:
    assert (await _post(server, origin=ORIGIN)).status_code == 200
    assert (await _post(server)).status_code == 200


async def test_another_host_is_refused(server: Server) -> None:
    assert (await _post(server, host="evil.example")).status_code == 421


async def test_a_directory_that_does_not_answer_is_503_and_asks_to_wait(server: Server, world: World) -> None:
    world.directory.answers_left = 0
    response = await _post(server)
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("era", [{}, {"mcp-protocol-version": "2025-06-18"}, {"mcp-protocol-version": "2026-07-28"}])
async def test_anything_but_post_ends_at_once(method: str, era: dict[str, str], server: Server) -> None:
    async with server.http(**era) as http, asyncio.timeout(5):
        response = await http.request(method, "/mcp", headers={"accept": "text/event-stream"})
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


async def test_a_body_may_be_as_large_as_the_limit_and_no_larger(server: Server) -> None:
    async with server.http() as http:
        for size, status in ((BODY_LIMIT, 400), (BODY_LIMIT + 1, 413)):
            declared = await http.post("/mcp", content=b"x" * size, headers={**ACCEPT, "content-type": "application/json"})
            assert declared.status_code == status
            counted = await http.post("/mcp", content=_pieces(size), headers={**ACCEPT, "content-type": "application/json"})
            assert counted.status_code == status
            assert "content-length" not in counted.request.headers


async def _pieces(size: int) -> AsyncIterator[bytes]:
    for start in range(0, size, 65_536):
        yield b"x" * min(65_536, size - start)


async def test_a_document_of_the_largest_size_fits_into_a_request(server: Server) -> None:
    plan = "ä" * (128 * 1024 - 1) + "\n"
    created = await server.created(plan=plan)
    assert created["source"] == plan


async def test_every_answer_is_kept_out_of_caches(server: Server, world: World) -> None:
    async with server.http() as http:
        answers = [
            await _post(server),
            await _post(server, None),
            await _post(server, "wrong"),
            await _post(server, origin="null"),
            await _post(server, host="evil.example"),
            await http.get("/mcp"),
            await http.post("/mcp", content=b"{", headers={**ACCEPT, "content-type": "application/json"}),
            await http.post("/mcp", content=b"x" * (BODY_LIMIT + 1), headers=ACCEPT),
        ]
        world.directory.answers_left = 0
        answers.append(await _post(server))
    assert [answer.status_code for answer in answers] == [200, 401, 401, 403, 421, 405, 400, 413, 503]
    for answer in answers:
        assert answer.headers.get_list("cache-control") == ["no-store"]
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"[]", None),
        (b"[" * 50_000, None),
        (b'{"jsonrpc": "2.0"}', None),
        (b"\xff", -32700),
        (b"1" * 10_000, None),
    ],
)
@pytest.mark.parametrize("era", [{}, {"mcp-protocol-version": "2026-07-28"}])
async def test_what_is_no_request_is_told_so(body: bytes, code: int | None, era: dict[str, str], server: Server) -> None:
    async with server.http(**era) as http:
        response = await http.post("/mcp", content=body, headers={**ACCEPT, "content-type": "application/json"})
    assert response.status_code == 400 or (b"jsonrpc" in body and response.status_code == 202)
    if code is not None:
        assert response.json()["error"]["code"] == code


async def test_it_is_served_whole_by_a_route_of_the_web_shell(server: Server) -> None:
    shell = Starlette(routes=[Route("/mcp", server.app)])
    headers = {**ACCEPT, "authorization": "Bearer ada-token"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=shell), base_url=ORIGIN, headers=headers) as http:
        assert (await http.post("/mcp", json=LIST)).status_code == 200
        assert (await http.get("/mcp")).status_code == 405
