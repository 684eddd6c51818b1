"""A query finds the channels whose title holds it, letter for letter but for case."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import ELSEWHERE, REPOSITORY, at, creation
from chopin_core.ids import ChannelId
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def titled(storage: Storage, *titles: str) -> None:
    for place, title in enumerate(titles):
        await storage.channels.create(creation(f"{place:03}", title=title))


async def found(storage: Storage, query: str) -> list[str]:
    page = await storage.channels.list(REPOSITORY.id, query=query)
    return [channel.title for channel in page.channels]


async def test_a_query_may_stand_anywhere_in_the_title(storage: Storage) -> None:
    await titled(storage, "Release plan", "Planning", "Notes")

    assert await found(storage, "plan") == ["Release plan", "Planning"]
    assert await found(storage, "se pl") == ["Release plan"]
    assert await found(storage, "Release plan") == ["Release plan"]
    assert await found(storage, "planner") == []


async def test_an_empty_query_finds_everything(storage: Storage) -> None:
    await titled(storage, "One", "", "Two")

    assert await found(storage, "") == ["One", "", "Two"]


@pytest.mark.parametrize(
    ("title", "query"),
    [("Plan", "pLAN"), ("GRÖSSE", "größ"[:3]), ("план", "ПЛАН"), ("ΩΜΕΓΑ", "ωμεγα"), ("ÉTUDE", "étude"), ("Ǆ", "ǆ")],
)
async def test_case_does_not_matter_in_any_script(storage: Storage, title: str, query: str) -> None:
    await titled(storage, title, "Notes")

    assert await found(storage, query) == [title]
    assert await found(storage, query.swapcase()) == [title]


async def test_signs_that_mean_something_to_a_database_mean_themselves(storage: Storage) -> None:
    titles = [
        "100% done",
        "100 done",
        "snake_case",
        "snakeXcase",
        "back\\slash",
        "it's",
        'say "hi"',
        "a*b",
        "(a|b)",
        "a.b",
        "[x]",
    ]
    await titled(storage, *titles)

    for query, hits in {
        "%": ["100% done"],
        "0% d": ["100% done"],
        "_": ["snake_case"],
        "e_c": ["snake_case"],
        "\\": ["back\\slash"],
        "k\\s": ["back\\slash"],
        "\\%": [],
        "'": ["it's"],
        '"': ['say "hi"'],
        "*": ["a*b"],
        "|": ["(a|b)"],
        ".": ["a.b"],
        "[x": ["[x]"],
    }.items():
        assert await found(storage, query) == hits, query


@pytest.mark.parametrize("query", ["計", "計画", "設計画", "กา", "😀", "👩‍👩", "i\u0307"])
async def test_short_queries_work_in_every_script(storage: Storage, query: str) -> None:
    await titled(storage, "設計画面", "การทดสอบ", "so 😀!", "👩‍👩‍👧 family", "İstanbul", "plain")

    hits = await found(storage, query)

    assert len(hits) == 1
    assert query in hits[0].lower()


async def test_accents_are_letters(storage: Storage) -> None:
    await titled(storage, "résumé", "resume", "re\u0301sume\u0301")

    assert await found(storage, "resume") == ["resume"]
    assert await found(storage, "résumé") == ["résumé"]


async def test_spaces_are_searched_for(storage: Storage) -> None:
    await titled(storage, "ab", "a b", "a  b")

    assert await found(storage, "a b") == ["a b"]
    assert await found(storage, " ") == ["a b", "a  b"]


async def test_a_search_is_paged_like_a_list(storage: Storage) -> None:
    await titled(storage, *(f"{word} {number}" for number in range(4) for word in ("hit", "miss")))

    first = await storage.channels.list(REPOSITORY.id, query="HIT", limit=3)
    assert first.next is not None
    second = await storage.channels.list(REPOSITORY.id, query="HIT", limit=3, after=first.next)

    assert [channel.title for channel in first.channels + second.channels] == ["hit 0", "hit 1", "hit 2", "hit 3"]
    assert second.next is None


async def test_a_search_hides_what_the_list_hides(storage: Storage) -> None:
    await titled(storage, "hit one", "hit two")
    await storage.channels.create(creation("child", title="hit three", parent_id=ChannelId("000"), now=at(-1)))
    await storage.channels.create(creation("elsewhere", title="hit four", repository=ELSEWHERE))
    await storage.channels.archive(ChannelId("000"), now=at(1))

    assert await found(storage, "hit") == ["hit two"]
    shown = await storage.channels.list(REPOSITORY.id, query="hit", include_archived=True)
    assert [channel.title for channel in shown.channels] == ["hit one", "hit two", "hit three"]


async def test_a_query_longer_than_any_title_finds_nothing(storage: Storage) -> None:
    await titled(storage, "plan")

    assert await found(storage, "plan" * 25_000) == []
