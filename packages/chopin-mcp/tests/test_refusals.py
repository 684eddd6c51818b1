"""Every refusal a model can get: reached, with code and advice, and with nothing written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from chopin_core.counters import Epoch
from chopin_core.document.canonical import source_hash
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import Corrupt, CorruptRecord
from chopin_core.ids import ChannelId
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.sidecar import SidecarRecord
from chopin_mcp.results import CRASH, REFUSALS, refused

from agent_world import ADA, PLANS, SOURCE, Facts, Server, World, answer, creation, now, refusal

RESEARCH = '<Research id="pumps-2026" />\n'

Scenario = Callable[[Server, World], Awaitable[Facts]]


async def _update(server: Server, document: Facts, token: str = "ada-token", **changed: object) -> Facts:
    arguments = {"id": document["id"], "revision": 0, "plan": "Neu.\n", "idempotencyKey": "update", **changed}
    return refusal(await server.call("update_document", token, **arguments))


async def unknown_argument(server: Server, world: World) -> Facts:
    return refusal(await server.call("list_documents", repository="acme/plans", colour="red"))


async def invalid_source(server: Server, world: World) -> Facts:
    return await _update(server, await server.created(), plan="<Unheard of='x'>y</Unheard>\n")


async def title_taken(server: Server, world: World) -> Facts:
    await server.created("Heating")
    return refusal(await server.call("create_document", **creation("another", title="HEATING")))


async def key_used_before(server: Server, world: World) -> Facts:
    answer(await server.call("create_document", **creation("k")))
    return refusal(await server.call("create_document", **creation("k", plan="Anders.\n")))


async def stale_revision(server: Server, world: World) -> Facts:
    document = await server.created()
    answer(await server.call("update_document", id=document["id"], revision=0, plan="Zuerst.\n", idempotencyKey="first"))
    return await _update(server, document)


async def archived(server: Server, world: World) -> Facts:
    document = await server.created()
    await server.storage.channels.archive(ChannelId(document["id"]), now=now())
    return await _update(server, document)


async def unknown_document(server: Server, world: World) -> Facts:
    return refusal(await server.call("read_document", id="00000000-0000-4000-8000-00000000000f"))


async def reader_writes(server: Server, world: World) -> Facts:
    return await _update(server, await server.created(), "grace-token")


async def draining(server: Server, world: World) -> Facts:
    document = await server.created()
    await server.rooms.close()
    return refusal(await server.call("read_document", id=document["id"]))


async def research_added(server: Server, world: World) -> Facts:
    return await _update(server, await server.created(), plan=RESEARCH)


SCENARIOS: dict[str, Scenario] = {
    "document-archived": archived,
    "document-unavailable": unknown_document,
    "idempotency-conflict": key_used_before,
    "invalid-arguments": unknown_argument,
    "invalid-source": invalid_source,
    "protected-projection": research_added,
    "repository-forbidden": reader_writes,
    "revision-conflict": stale_revision,
    "title-conflict": title_taken,
    "unavailable": draining,
}


@pytest.mark.parametrize("code", SCENARIOS)
async def test_a_refusal_tells_code_advice_and_what_to_try(code: str, server: Server, world: World) -> None:
    facts = await SCENARIOS[code](server, world)
    [expected] = {refusal for refusal in REFUSALS.values() if refusal.code == code}
    assert facts["code"] == code
    assert facts["message"] == expected.message
    assert facts["retry"] == expected.retry.value
    assert set(facts) <= {"code", "message", "retry", "current_revision", "issues", "issues_left_out"}


def test_no_refusal_is_left_untested() -> None:
    assert set(SCENARIOS) == {refusal.code for refusal in REFUSALS.values()}


async def test_a_stale_update_is_told_the_current_revision_and_changes_nothing(server: Server, world: World) -> None:
    facts = await stale_revision(server, world)
    assert facts["current_revision"] == 1
    listed = answer(await server.call("list_documents", repository="acme/plans"))
    assert answer(await server.call("read_document", id=listed["documents"][0]["id"]))["source"] == "Zuerst.\n"


async def test_blocks_of_records_stay_as_they_are_while_the_text_around_them_changes(server: Server) -> None:
    document = await server.recorded(f"Davor.\n\n{RESEARCH}")
    other = RESEARCH.replace("pumps", "boilers")
    for plan in ("Davor.\n", f"Davor.\n\n{other}", f"{RESEARCH}\n{other}"):
        assert (await _update(server, document, plan=plan))["code"] == "protected-projection"
    moved = f"{RESEARCH}\nDanach.\n"
    updated = await server.call("update_document", id=document["id"], revision=0, plan=moved, idempotencyKey="moved")
    assert answer(updated) == {**document, "source": moved, "revision": 1}


async def test_a_source_with_issues_is_told_all_of_them(server: Server, world: World) -> None:
    document = await server.created()
    facts = await _update(server, document, plan="<Unheard/>\n\n<Unseen/>\n")
    assert len(facts["issues"]) >= 2
    assert all({"code", "message", "path"} <= set(issue) for issue in facts["issues"])
    assert answer(await server.call("read_document", id=document["id"])) == document


async def test_a_creation_with_issues_leaves_no_document(server: Server) -> None:
    assert refusal(await server.call("create_document", **creation("k", plan="<Unheard/>\n")))["code"] == "invalid-source"
    assert answer(await server.call("list_documents", repository="acme/plans")) == {"documents": []}
    assert answer(await server.call("create_document", **creation("k")))["source"] == SOURCE


@pytest.mark.parametrize("tool", ["list_documents", "create_document"])
@pytest.mark.parametrize("repository", ["acme/elsewhere", "acme/nowhere"])
async def test_a_repository_out_of_sight_and_one_that_is_not_there_look_alike(
    tool: str, repository: str, server: Server
) -> None:
    arguments = {"repository": repository} if tool == "list_documents" else creation("k", repository=repository)
    facts = refusal(await server.call(tool, **arguments))
    assert facts["code"] == "repository-forbidden"
    assert facts == refusal(await server.call("list_documents", repository="no/where"))


async def test_a_reader_may_not_create(server: Server) -> None:
    facts = refusal(await server.call("create_document", "grace-token", **creation("k")))
    assert facts["code"] == "repository-forbidden"
    assert answer(await server.call("list_documents", "grace-token", repository="acme/plans")) == {"documents": []}


async def test_a_directory_that_falls_silent_during_a_call_is_a_refusal(server: Server, world: World) -> None:
    async with server.client() as client:
        world.directory.answers_left = 1
        facts = refusal(await client.call_tool("list_documents", {"repository": "acme/plans"}))
    assert (facts["code"], facts["retry"]) == ("unavailable", "same_key")


def test_what_the_table_does_not_know_is_logged_and_answered_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    facts = refusal(refused(CorruptRecord("secret place", "secret reason"), "read_document"))
    assert facts == {"code": CRASH.code, "message": CRASH.message, "retry": "same_key"}
    [record] = caplog.records
    assert record.exc_info is not None and isinstance(record.exc_info[1], Corrupt)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_document_that_storage_cannot_give_back_is_a_crash_in_both_eras(
    mode: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    channel = await server.storage.channels.create(
        ChannelCreate(
            id=ChannelId("00000000-0000-4000-8000-000000000001"),
            repository=PLANS,
            title="From the future",
            created_by=(await server.storage.users.put(ADA, now=now())).person.id,
            now=now(),
            initial=Initial(
                generation="g",
                epoch=Epoch("e"),
                source="",
                source_hash=source_hash(""),
                document=PycrdtEngine().new().update(),
                sidecar=SidecarRecord(head={"version": 99}),
            ),
        )
    )
    async with server.client(mode=mode) as client:
        facts = refusal(await client.call_tool("read_document", {"id": channel.id}))
    assert facts == {"code": CRASH.code, "message": CRASH.message, "retry": "same_key"}
    assert any(record.name == "chopin_mcp.results" and record.exc_info for record in caplog.records)


def test_the_page_for_users_lists_every_code_with_what_to_try() -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "connect-an-agent.md"
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.read_text().splitlines() if "|" in line]
    documented = {row[0]: row[2] for row in rows if len(row) == 3}
    for refusal_of_table in (*REFUSALS.values(), CRASH):
        assert documented[refusal_of_table.code] == refusal_of_table.retry.value
