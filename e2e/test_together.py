"""Several people in one document: one text, each other's names and carets, and nobody left over."""

from __future__ import annotations

import asyncio

from .agent import stored
from .conftest import NewPerson
from .server import Server
from .waiting import eventually


async def test_two_people_typing_at_once_end_with_the_same_text(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    from_ada = "".join(f"a{number} " for number in range(40))
    from_ben = "".join(f"b{number} " for number in range(40))
    await ada.editor.focus()
    await ben.editor.focus()
    await asyncio.gather(ada.page.keyboard.type(from_ada, delay=10), ben.page.keyboard.type(from_ben, delay=10))
    await ada.sees_state("saved")
    await ben.sees_state("saved")
    text = await ada.text()
    await ben.sees_text(text)
    assert _woven(text, from_ada, from_ben)
    assert await stored(server, document) == text + "\n"


async def test_people_see_each_others_names_and_carets_but_not_their_own(server: Server, new_person: NewPerson) -> None:
    ada, ben, cyd = [await new_person(server, name) for name in ("ada", "ben", "cyd")]
    document = await ada.create_document()
    everybody = (ada, ben, cyd)
    for person in everybody:
        await person.open(document)
        await person.type(f"{person.name} ")
    for person in everybody:
        others = sorted({"ada", "ben", "cyd"} - {person.name})
        await eventually(person.carets, others)
        await eventually(person.others, set(others))
        assert (await person.people())[0] == f"{person.name} (you)"
    await cyd.page.close()
    for person, other in ((ada, "ben"), (ben, "ada")):
        await eventually(person.carets, [other])
        await eventually(person.others, {other})


def _woven(text: str, one: str, other: str) -> bool:
    """Whether the text is made of these two, each whole and in its order, and of nothing else."""
    reached = {0}
    for index, letter in enumerate(text):
        reached = {
            taken + (source is one)
            for taken in reached
            for source, at in ((one, taken), (other, index - taken))
            if at < len(source) and source[at] == letter
        }
    return len(one) in reached and len(text) == len(one) + len(other)


async def test_a_caret_stays_at_its_letter_while_somebody_writes_before_it(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("left right")
    await ada.page.keyboard.press("Control+ArrowLeft")
    await eventually(ben.carets, ["ada"])
    await ben.editor.focus()
    await ben.page.keyboard.press("Control+Home")
    await ben.page.keyboard.type("😀 far ")
    await ada.sees_text("😀 far left right")
    await eventually(lambda: ben.text_before_caret_of("ada"), "😀 far left ")
    await ada.page.keyboard.type("|")
    await ben.sees_text("😀 far left |right")


async def test_a_word_being_composed_survives_what_others_write_around_it(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ada.type("before after")
    await ada.page.keyboard.press("Control+ArrowLeft")
    await ben.sees_text("before after")
    input_method = await ada.context.new_cdp_session(ada.page)
    for composed in ("n", "ni", "nih", "niha"):
        await input_method.send(
            "Input.imeSetComposition", {"text": composed, "selectionStart": len(composed), "selectionEnd": len(composed)}
        )
        await ben.editor.focus()
        await ben.page.keyboard.press("Control+Home")
        await ben.page.keyboard.type("b")
        await ben.page.keyboard.press("Control+End")
        await ben.page.keyboard.type("e")
    await input_method.send("Input.insertText", {"text": "你好"})
    await ada.sees_text("bbbbbefore 你好aftereeee")
    await ben.sees_text("bbbbbefore 你好aftereeee")
    await ada.sees_state("saved")
    assert await stored(server, document) == "bbbbbefore 你好aftereeee\n"


async def test_with_two_tabs_one_is_there_until_the_second_is_closed(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    second = await ben.context.new_page()
    await second.goto(server.origin + document.path)
    await eventually(ada.people, ["ada (you)", "ben (2 tabs)"])
    await second.close()
    await eventually(ada.people, ["ada (you)", "ben"])
    await ben.page.close()
    await eventually(ada.people, ["ada (you)"])


async def test_everybody_keeps_the_same_colour_in_the_list_and_in_the_text(server: Server, new_person: NewPerson) -> None:
    ada, ben = await new_person(server, "ada"), await new_person(server, "ben")
    document = await ada.create_document()
    await ada.open(document)
    await ben.open(document)
    await ben.type("Hello")
    await eventually(ada.carets, ["ben"])
    in_text = await ada.page.locator(".peer-name").evaluate("name => getComputedStyle(name).backgroundColor")
    in_list = await ada.page.locator(".people .person").nth(1).evaluate("badge => getComputedStyle(badge).backgroundColor")
    assert in_text == in_list


async def test_six_people_typing_at_once_all_see_everything_that_was_typed(server: Server, new_person: NewPerson) -> None:
    people = [await new_person(server, f"p{number}") for number in range(6)]
    document = await people[0].create_document()
    for person in people:
        await person.open(document)
    words = [f"{person.name * 4}, " for person in people]
    await asyncio.gather(*(person.page.keyboard.type(word, delay=15) for person, word in zip(people, words, strict=True)))
    for person in people:
        await person.sees_state("saved")
    text = await people[0].text()
    for person in people:
        await person.sees_text(text)
    assert sorted(text) == sorted("".join(words))
    assert await stored(server, document) == text + "\n"
