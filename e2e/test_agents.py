"""People and agents in the same document: the official MCP client beside an open browser."""

from __future__ import annotations

from .agent import agent, creation, facts
from .conftest import NewPerson
from .server import PROJECT, Server
from .waiting import eventually


async def test_an_agent_lists_reads_creates_and_updates_while_people_watch(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    async with agent(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["list_documents", "read_document", "create_document", "update_document"]
        wanted = creation("heating", "Heating", "# Heating\n\nCold.\n")
        created = facts(await client.call_tool("create_document", wanted))
        assert facts(await client.call_tool("create_document", wanted)) == created
        listed = facts(await client.call_tool("list_documents", {"repository": PROJECT}))["documents"]
        assert [row["url"] for row in listed if row["title"] == "Heating"] == [created["url"]]

        await ada.page.goto(created["url"])
        await ada.ready()
        await ada.sees_text("# Heating\n\nCold.\n")
        update = {"id": created["url"], "revision": created["revision"], "plan": "# Heating\n\nWarm.\n", "idempotencyKey": "u1"}
        updated = facts(await client.call_tool("update_document", update))
        assert updated["revision"] == created["revision"] + 1
        await ada.sees_text("# Heating\n\nWarm.\n", within=1)
        await ada.sees_state("saved")

        stale = {**update, "idempotencyKey": "u2", "plan": "# Heating\n\nHot.\n"}
        refusal = facts(await client.call_tool("update_document", stale), refused=True)
        assert refusal["code"] == "revision-conflict"
        assert refusal["current_revision"] == updated["revision"]
        await ada.sees_text("# Heating\n\nWarm.\n")


async def test_an_agent_that_read_before_somebody_typed_is_refused_and_can_read_again(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    async with agent(server) as client:
        read = facts(await client.call_tool("read_document", {"id": document.path}))
        await ada.type("Ada was here.")
        await ada.sees_state("saved")
        update = {"id": document.id, "revision": read["revision"], "plan": "Only mine.\n", "idempotencyKey": "k1"}
        refusal = facts(await client.call_tool("update_document", update), refused=True)
        again = facts(await client.call_tool("read_document", {"id": document.path}))
        assert again["source"] == "Ada was here.\n"
        assert refusal["current_revision"] == again["revision"]
        plan = again["source"] + "\nSo was the agent.\n"
        repeated = {"id": document.id, "revision": again["revision"], "plan": plan, "idempotencyKey": "k2"}
        facts(await client.call_tool("update_document", repeated))
    await ada.sees_text("Ada was here.\n\nSo was the agent.\n")
    await ada.page.reload()
    await ada.ready()
    await ada.sees_text("Ada was here.\n\nSo was the agent.\n")


async def test_an_agents_update_leaves_the_caret_of_a_person_where_it_was(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("The first winter was measured")
    await ada.page.keyboard.press("Control+ArrowLeft")
    await eventually(lambda: ben.text_before_caret_of("ada"), "The first winter was ")
    await ada.sees_state("saved")
    async with agent(server) as client:
        read = facts(await client.call_tool("read_document", {"id": document.id}))
        plan = f"# New\n\n{read['source']}\nAnd the second.\n"
        update = {"id": document.id, "revision": read["revision"], "plan": plan, "idempotencyKey": "c"}
        facts(await client.call_tool("update_document", update))
    await ada.sees_text(plan)
    await eventually(lambda: ben.text_before_caret_of("ada"), "The first winter was ")
    await ada.page.keyboard.type("carefully ")
    await ben.sees_text(plan.replace("measured", "carefully measured"))


async def test_an_agent_keeps_working_across_a_restart_and_what_it_wrote_is_there(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    async with agent(server) as client:
        wanted = creation("lasting", "Lasting", "Once.\n")
        created = facts(await client.call_tool("create_document", wanted))
        await ada.page.goto(created["url"])
        await ada.ready()
        await server.kill()
        await server.start()
        assert facts(await client.call_tool("create_document", wanted)) == created
        update = {"id": created["id"], "revision": created["revision"], "plan": "Twice.\n", "idempotencyKey": "u"}
        updated = facts(await client.call_tool("update_document", update))
        await ada.sees_text("Twice.\n", within=20)
        await server.kill()
        await server.start()
        assert facts(await client.call_tool("update_document", update)) == updated
        await ada.sees_state("saved", within=20)
        await ada.sees_text("Twice.\n")
        listed = facts(await client.call_tool("list_documents", {"repository": PROJECT}))["documents"]
    assert [row["title"] for row in listed].count("Lasting") == 1
