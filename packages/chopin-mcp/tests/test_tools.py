"""What each tool answers when all is well."""

from __future__ import annotations

from urllib.parse import quote

import attrs
from mcp.types import TextContent

from chopin_core.channel import Channel
from chopin_core.ids import ChannelId
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate
from chopin_core.room.events import MemberView, RoomEvent, Updated

from agent_world import ADA, ORIGIN, PLANS, SOURCE, Server, World, answer, creation, now


@attrs.define(eq=False)
class Onlooker:
    """Somebody who has a document open and remembers what they were told."""

    view: MemberView = attrs.field(factory=lambda: MemberView(handle="grace", client="tab"))
    told: list[RoomEvent] = attrs.field(factory=list)

    def tell(self, event: RoomEvent) -> None:
        self.told.append(event)


async def test_a_created_document_is_answered_whole_and_reads_the_same(server: Server) -> None:
    brief = {
        "goal": "Warm rooms",
        "constraints": ["no gas"],
        "settledDecisions": ["heat pump"],
        "openQuestions": ["where?"],
        "repositoryFindings": ["a cellar"],
    }
    created = await server.created("Heating", brief=brief)
    assert created == {
        "id": created["id"],
        "title": "Heating",
        "source": SOURCE,
        "revision": 0,
        "url": f"{ORIGIN}/documents/Acme/plans/heating",
        "brief": brief,
    }
    assert answer(await server.call("read_document", id=created["id"])) == created


async def test_the_text_shows_other_alphabets_as_they_are(server: Server) -> None:
    [content] = (await server.call("create_document", **creation("k"))).content
    assert isinstance(content, TextContent)
    assert "Wärme & *Kälte*: 温度 🌡." in content.text


async def test_a_creation_shows_neither_its_key_nor_where_it_came_from(server: Server) -> None:
    created = await server.created(idempotencyKey="secret-key", baseBranch="hidden-branch", baseCommit="hidden-commit")
    read = answer(await server.call("read_document", id=created["id"]))
    for hidden in ("secret-key", "hidden-branch", "hidden-commit"):
        assert hidden not in str(created) + str(read)


async def test_an_update_is_seen_by_readers_by_open_rooms_by_storage_and_by_the_next_process(world: World) -> None:
    changed = "# Aufbau\n\nDoch Gas.\n"
    onlooker = Onlooker()
    async with world.server() as server:
        created = await server.created()
        async with server.rooms.hold(ChannelId(created["id"])) as room:
            room.join(onlooker)
            room.open(onlooker)
            updated = answer(
                await server.call("update_document", id=created["id"], revision=0, plan=changed, idempotencyKey="u")
            )
            assert room.view().text == changed
            room.leave(onlooker)
        assert updated == {**created, "source": changed, "revision": 1}
        assert answer(await server.call("read_document", id=created["id"])) == updated
        stored = await server.storage.collaboration.load(ChannelId(created["id"]))
        assert stored is not None and stored.channel.revision == 1
    [told] = [event for event in onlooker.told if isinstance(event, Updated)]
    assert (told.sender, told.agent) == ("ada", True)
    async with world.server() as restarted:
        assert answer(await restarted.call("read_document", id=created["id"])) == updated


async def test_a_document_that_was_never_opened_reads_as_empty_at_revision_0(server: Server) -> None:
    channel = await server.documents.create_blank(PLANS, "Blank", by=ADA)
    assert answer(await server.call("read_document", id=channel.id)) == {
        "id": channel.id,
        "title": "Blank",
        "source": "",
        "revision": 0,
        "url": f"{ORIGIN}/documents/Acme/plans/blank",
    }


async def test_an_archived_document_can_be_read_and_is_listed_only_on_request(server: Server) -> None:
    created = await server.created()
    await server.storage.channels.archive(ChannelId(created["id"]), now=now())
    read = answer(await server.call("read_document", id=created["id"]))
    assert read == {**created, "archivedAt": read["archivedAt"]}
    assert read["archivedAt"].endswith("Z")
    assert answer(await server.call("list_documents", repository="acme/plans")) == {"documents": []}
    listed = answer(await server.call("list_documents", repository="acme/plans", includeArchived=True))
    assert listed == {"documents": [{key: read[key] for key in ("id", "title", "url", "archivedAt")}]}


async def test_a_listing_comes_in_pages_that_leave_nothing_out_and_repeat_nothing(server: Server) -> None:
    titles = [f"Plan {number}" for number in range(7)]
    for title in titles:
        await server.documents.create_blank(PLANS, title, by=ADA)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for expected in (3, 3, 1):
        page = answer(await server.call("list_documents", repository="acme/plans", limit=3, **cursor))
        assert len(page["documents"]) == expected
        seen += [row["title"] for row in page["documents"]]
        cursor = {"cursor": page["next_cursor"]} if "next_cursor" in page else {}
    assert not cursor
    assert sorted(seen) == titles


async def test_a_listing_shows_only_its_own_repository(server: Server) -> None:
    await server.created("Heating", "eve-token", repository="acme/elsewhere")
    assert answer(await server.call("list_documents", repository="ACME/plans")) == {"documents": []}


async def test_a_child_is_listed_and_read_under_its_parents_address(server: Server) -> None:
    parent = await server.created("Heating")
    child = await _child(server, ChannelId(parent["id"]), PLANS, ADA)
    url = f"{ORIGIN}/documents/Acme/plans/heating/children/{quote(child.slug)}"
    listed = answer(await server.call("list_documents", repository="acme/plans"))
    assert {row["id"]: row["url"] for row in listed["documents"]} == {parent["id"]: parent["url"], child.id: url}
    assert answer(await server.call("read_document", id=url))["id"] == child.id


async def test_a_writer_of_another_name_for_the_repository_gets_its_present_name_in_urls(server: Server, world: World) -> None:
    created = await server.created()
    moved = Repository(id=PLANS.id, owner="Acme", name="blueprints")
    world.directory.repositories_by_name = {"acme/blueprints": moved}
    read = answer(await server.call("read_document", id=created["id"]))
    assert read["url"] == f"{ORIGIN}/documents/Acme/blueprints/heating"


async def test_an_update_is_kept_with_the_person_and_the_program_behind_it(server: Server) -> None:
    created = await server.created()
    await server.call("update_document", id=created["id"], revision=0, plan="Neu.\n", idempotencyKey="u")
    async with server.rooms.hold(ChannelId(created["id"])) as room:
        sections = room.view().sidecar.sections
    [record] = [value for name, value in sections.items() if name.startswith("mcpUpdates.")]
    assert isinstance(record, dict)
    assert record["client"] == {"name": "tester", "version": "1.2"}


async def test_creating_uses_the_canonical_repository_for_any_spelling_of_its_name(server: Server) -> None:
    created = answer(await server.call("create_document", **creation("k", repository="aCME/PLANS")))
    channel = await server.documents.get(ChannelId(created["id"]))
    assert channel is not None and channel.repository == PLANS


async def _child(server: Server, parent: ChannelId, repository: Repository, by: Person) -> Channel:
    return await server.storage.channels.create(
        ChannelCreate(
            id=ChannelId("00000000-0000-4000-8000-000000000001"),
            repository=repository,
            title="Über Pumpen / Lärm",
            created_by=by.id,
            now=now(),
            parent_id=parent,
        )
    )
