"""Every channel has an address of its own, and every address it ever had leads to it."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import ELSEWHERE, REPOSITORY, at, creation
from chopin_core.channel import SLUG_LENGTH, Channel, slug_of
from chopin_core.ids import ChannelId
from chopin_core.ports.storage import Storage

STORE = "channels"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def found(storage: Storage, slug: str) -> ChannelId | None:
    """Whose address this is."""
    channel = await storage.channels.resolve(REPOSITORY.id, slug)
    return None if channel is None else channel.id


async def named(storage: Storage, id: str, title: str) -> Channel:
    return await storage.channels.create(creation(id, title=title))


async def renamed(storage: Storage, channel: Channel, title: str) -> Channel:
    return (await storage.channels.rename(channel.id, title, now=at(1))).channel


async def test_a_channel_is_found_by_its_slug(storage: Storage) -> None:
    created = await named(storage, "a", "Ein Plan für Zoë")

    assert created.slug == "ein-plan-für-zoë"
    assert await storage.channels.resolve(REPOSITORY.id, created.slug) == created


async def test_a_slug_is_matched_as_given(storage: Storage) -> None:
    await named(storage, "a", "A Plan")

    for near in ("A-Plan", "a plan", "a-plan ", "a-pla_", "a-%", "a", ""):
        assert await found(storage, near) is None


async def test_a_slug_belongs_to_one_repository(storage: Storage) -> None:
    here = await named(storage, "here", "Same")
    assert await storage.channels.resolve(ELSEWHERE.id, "same") is None

    there = await storage.channels.create(creation("there", title="Same", repository=ELSEWHERE))

    assert there.slug == "same"
    assert await storage.channels.resolve(REPOSITORY.id, "same") == here
    assert await storage.channels.resolve(ELSEWHERE.id, "same") == there


async def test_a_slug_in_use_gets_the_next_number(storage: Storage) -> None:
    slugs = [(await named(storage, id, title)).slug for id, title in (("a", "Plan"), ("b", "plan!"), ("c", "PLAN"))]

    assert slugs == ["plan", "plan-2", "plan-3"]
    assert [await found(storage, slug) for slug in slugs] == ["a", "b", "c"]


async def test_a_number_somebody_chose_is_passed_over(storage: Storage) -> None:
    await named(storage, "a", "Plan 2")
    await named(storage, "b", "Plan")

    assert (await named(storage, "c", "Plan")).slug == "plan-3"


async def test_a_long_slug_gives_way_to_its_number(storage: Storage) -> None:
    title = "é" * (SLUG_LENGTH + 5)
    first, second = await named(storage, "a", title), await named(storage, "b", title)

    assert first.slug == "é" * SLUG_LENGTH
    assert second.slug == "é" * (SLUG_LENGTH - 2) + "-2"


async def test_a_title_without_letters_still_has_an_address(storage: Storage) -> None:
    assert [(await named(storage, id, "🎉!")).slug for id in ("a", "b")] == ["document", "document-2"]


@pytest.mark.parametrize("title", ["İstanbul", "ΟΔΟΣ", "ǅ", "ﬁn", "日本語 計画", "क्षि", "e\u0301", "\u0301", "Ⅷ ½"])
async def test_a_slug_is_made_by_the_core_and_not_by_the_database(storage: Storage, title: str) -> None:
    created = await named(storage, "a", title)

    assert created.slug == slug_of(title)
    assert await found(storage, slug_of(title)) == "a"


async def test_a_rename_moves_the_slug_and_keeps_the_former_one(storage: Storage) -> None:
    before = await named(storage, "a", "Before")

    after = await renamed(storage, before, "After")

    assert after.slug == "after"
    assert await storage.channels.resolve(REPOSITORY.id, "after") == after
    assert await storage.channels.resolve(REPOSITORY.id, "before") == after


async def test_a_former_slug_is_never_given_to_another(storage: Storage) -> None:
    await renamed(storage, await named(storage, "a", "Before"), "After")

    another = await named(storage, "b", "Before")
    third = await renamed(storage, await named(storage, "c", "Third"), "Before")

    assert (another.slug, third.slug) == ("before-2", "before-3")
    assert await found(storage, "before") == "a"


async def test_going_back_gives_back_the_earlier_slug(storage: Storage) -> None:
    await named(storage, "a", "Plan")
    second = await named(storage, "b", "Plan")
    await renamed(storage, second, "Other")

    back = await renamed(storage, second, "Plan")

    assert back.slug == "plan-2"
    assert [await found(storage, slug) for slug in ("plan", "plan-2", "other")] == ["a", "b", "b"]


async def test_two_channels_may_swap_their_titles_and_both_addresses_hold(storage: Storage) -> None:
    a, b = await named(storage, "a", "Ada"), await named(storage, "b", "Bob")

    await renamed(storage, a, "Bob")
    swapped = await renamed(storage, b, "Ada")

    assert (swapped.title, swapped.slug) == ("Ada", "ada-2")
    assert [await found(storage, slug) for slug in ("ada", "bob", "bob-2", "ada-2")] == ["a", "b", "a", "b"]


async def test_a_rename_within_the_same_slug_keeps_it(storage: Storage) -> None:
    plan = await named(storage, "a", "A plan")

    assert [(await renamed(storage, plan, title)).slug for title in ("A PLAN", "a-plan?")] == ["a-plan", "a-plan"]


async def test_every_address_of_many_renames_still_leads_there(storage: Storage) -> None:
    plan = await named(storage, "a", "Title 0")
    await named(storage, "b", "Title 7")
    for number in range(1, 13):
        await renamed(storage, plan, f"Title {number}")

    slugs = [f"title-{number}" for number in range(13) if number != 7]
    assert [await found(storage, slug) for slug in slugs] == ["a"] * 12
    assert [await found(storage, slug) for slug in ("title-7", "title-7-2")] == ["b", "a"]


async def test_an_archived_channel_keeps_its_addresses(storage: Storage) -> None:
    plan = await renamed(storage, await named(storage, "a", "Before"), "After")
    archived = (await storage.channels.archive(plan.id, now=at(2))).channel

    for slug in ("before", "after"):
        assert await storage.channels.resolve(REPOSITORY.id, slug) == archived
    assert (await named(storage, "b", "After")).slug == "after-2"
