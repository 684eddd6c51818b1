"""Addresses of documents: the ones that lead somewhere, and the many that look alike in leading nowhere."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from chopin_core.ids import ChannelId, RepositoryId
from chopin_core.people import Repository

from agent_world import ORIGIN, Facts, Server, World, answer, refusal

TITLE = "Wärme / 温度"


@pytest.fixture
async def document(server: Server) -> Facts:
    return await server.created(TITLE)


@pytest.mark.parametrize(
    "address",
    [
        "{id}",
        "{path}",
        "{path}/",
        "{path}?view=plan#part",
        "{url}",
        "{url}?view=plan#part",
        "HTTP://127.0.0.1:8787{path}",
        "/documents/acme/PLANS/{slug}",
        "/documents/acme/plans/{encoded}",
        "/documents/acme/plans/W%C3%84RME-温度",
    ],
)
async def test_a_document_is_found_under_each_of_its_addresses(address: str, document: Facts, server: Server) -> None:
    slug = "wärme-温度"
    path = f"/documents/Acme/plans/{slug}"
    given = address.format(id=document["id"], path=path, url=document["url"], slug=slug, encoded=quote(slug))
    assert answer(await server.call("read_document", id=given)) == document


async def test_a_url_is_made_of_ascii_and_leads_back(document: Facts, server: Server) -> None:
    assert document["url"].isascii()
    assert answer(await server.call("read_document", id=document["url"])) == document


async def test_a_former_address_still_leads_to_the_document(document: Facts, server: Server) -> None:
    await server.documents.rename(ChannelId(document["id"]), "Kälte")
    found = answer(await server.call("read_document", id=document["url"]))
    assert (found["id"], found["title"], found["url"]) == (document["id"], "Kälte", f"{ORIGIN}/documents/Acme/plans/k%C3%A4lte")


@pytest.mark.parametrize(
    "address",
    [
        "nonsense",
        "documents/acme/plans/heating",
        "/",
        "/documents/acme/plans",
        "/documents/acme/plans/",
        "/documents/acme/plans/other",
        "/documents/acme/nowhere/heating",
        "/documents/acme/plans/heating/children",
        "/documents/acme/plans/heating/children/heating",
        "/documents/acme/plans/heating%00",
        "/documents/acme/plans/%FF",
        "/elsewhere/acme/plans/heating",
        "//127.0.0.1:8787/documents/acme/plans/heating",
        "https://127.0.0.1:8787/documents/acme/plans/heating",
        "http://127.0.0.1/documents/acme/plans/heating",
        "http://127.0.0.1:8788/documents/acme/plans/heating",
        "http://127.0.0.1:x/documents/acme/plans/heating",
        "http://[127.0.0.1:8787/documents/acme/plans/heating",
        "http://ada@127.0.0.1:8787/documents/acme/plans/heating",
        "http://127.0.0.1:8787@evil.example/documents/acme/plans/heating",
        "javascript:/documents/acme/plans/heating",
        "00000000-0000-4000-8000-00000000000f",
    ],
)
async def test_an_address_that_leads_nowhere_is_refused_like_any_other(address: str, server: Server) -> None:
    await server.created("Heating")
    facts = refusal(await server.call("read_document", id=address))
    assert facts == refusal(await server.call("read_document", id="unknown"))
    assert facts["code"] == "document-unavailable"


async def test_a_document_out_of_sight_is_refused_exactly_like_one_that_is_not_there(document: Facts, server: Server) -> None:
    for address in (document["id"], document["url"], document["url"].removeprefix(ORIGIN)):
        for tool, more in (
            ("read_document", {}),
            ("update_document", {"revision": 0, "plan": "Neu.\n", "idempotencyKey": "k"}),
        ):
            hidden = await server.call(tool, "eve-token", id=address, **more)
            missing = await server.call(tool, "eve-token", id="00000000-0000-4000-8000-00000000000f", **more)
            assert refusal(hidden) == refusal(missing)
    assert answer(await server.call("read_document", id=document["id"])) == document


async def test_a_repository_that_took_over_the_name_does_not_open_the_document(
    document: Facts, server: Server, world: World
) -> None:
    taker = Repository(id=RepositoryId("R_taker"), owner="Acme", name="plans")
    directory = world.directory
    directory.repositories_by_name = {"acme/plans": taker}
    directory.roles = {(person.id, taker.id): role for person in directory.people.values() for role in directory.roles.values()}
    for address in (document["id"], document["url"]):
        assert refusal(await server.call("read_document", id=address))["code"] == "document-unavailable"


async def test_an_address_may_be_2048_code_points_long(server: Server) -> None:
    assert refusal(await server.call("read_document", id="ä" * 2048))["code"] == "document-unavailable"
    assert refusal(await server.call("read_document", id="ä" * 2049))["code"] == "invalid-arguments"
