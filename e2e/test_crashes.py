"""The server dies under open documents: whatever was acknowledged is there when the next one runs, and once."""

from __future__ import annotations

import asyncio

import pytest

from .agent import stored
from .conftest import NewPerson
from .frames import Frames
from .server import Server
from .waiting import until


@pytest.mark.timeout(120)
async def test_three_kills_under_two_people_typing_lose_nothing_and_double_nothing(
    server: Server, new_person: NewPerson
) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("start\n\nend")
    await ada.sees_state("saved")
    await ben.sees_text("start\n\nend")
    words: list[str] = []
    for round_number in range(3):
        await ada.editor.focus()
        await ada.page.keyboard.press("Control+Home")
        await ben.editor.focus()
        await ben.page.keyboard.press("Control+End")
        mine = [f"a{round_number}.{number}" for number in range(40)]
        theirs = [f"b{round_number}.{number}" for number in range(40)]
        typing = asyncio.gather(
            ada.page.keyboard.type("".join(f"{word} " for word in mine), delay=8),
            ben.page.keyboard.type("".join(f" {word}" for word in theirs), delay=8),
        )
        await asyncio.sleep(0.7)
        await server.kill()
        await typing
        await server.start()
        for person in (ada, ben):
            await person.sees_state("saved", within=20)
        words += [*mine, *theirs]
        text = await ada.text()
        await ben.sees_text(text)
        assert sorted(text.split()) == sorted(["start", "end", *words])
        assert await stored(server, document) == text + "\n"


@pytest.mark.parametrize("acknowledged_first", [1, 200])
async def test_what_was_acknowledged_before_a_kill_is_there_without_the_browser_that_wrote_it(
    acknowledged_first: int, server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    frames = Frames(ada.page)
    document = await ada.create_document()
    await ada.open(document)
    typed = "".join(f"{word} " for word in range(200))
    typing = asyncio.create_task(ada.type(typed, delay=4))
    await _acknowledged(frames, acknowledged_first)
    await server.kill()
    await typing
    # Whatever this page still had to send goes with it.
    await ada.context.close()
    acknowledged = frames.acknowledged_text()
    await server.start()
    kept = await stored(server, document)
    assert kept.startswith(acknowledged)
    assert typed.startswith(kept.removesuffix("\n"))


async def _acknowledged(frames: Frames, characters: int) -> None:
    async def so_far() -> int:
        return len(frames.acknowledged_text())

    await until(so_far, lambda so_far: so_far >= characters, within=20)


async def test_a_server_asked_to_stop_first_acknowledges_what_it_has_taken_in(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    frames = Frames(ada.page)
    document = await ada.create_document()
    await ada.open(document)
    typing = asyncio.create_task(ada.type("".join(f"{word} " for word in range(150)), delay=4))
    await _acknowledged(frames, 100)
    await server.stop()
    await typing
    await ada.context.close()
    acknowledged = frames.acknowledged_text()
    await server.start()
    assert await stored(server, document) == acknowledged + "\n"


async def test_restarts_under_an_open_document_do_not_double_its_text(server: Server, new_person: NewPerson) -> None:
    ada = await new_person(server, "ada")
    document = await ada.create_document()
    await ada.open(document)
    await ada.type("once")
    await ada.sees_state("saved")
    for _ in range(3):
        await server.stop()
        await server.start()
        await ada.notices_the_network()
        await ada.sees_state("saved", within=20)
    await ada.type(", and later edits work")
    await ada.sees_state("saved")
    await ada.sees_text("once, and later edits work")
    assert await stored(server, document) == "once, and later edits work\n"


async def test_a_server_that_loses_its_database_gives_up_without_acknowledging_what_is_not_kept(
    server: Server, new_person: NewPerson
) -> None:
    ada = await new_person(server, "ada")
    frames = Frames(ada.page)
    document = await ada.create_document()
    await ada.open(document)
    typed = "".join(f"{word} " for word in range(100))
    typing = asyncio.create_task(ada.type(typed, delay=10))
    await _acknowledged(frames, 100)
    await server.lose_postgres()
    await typing
    acknowledged = frames.acknowledged_text()
    assert await ada.state() != "saved"
    assert acknowledged != typed
    await server.start()
    assert (await stored(server, document)).startswith(acknowledged)
    await ada.notices_the_network()
    await ada.sees_state("saved", within=20)
    await ada.sees_text(typed)
    assert await stored(server, document) == typed + "\n"
