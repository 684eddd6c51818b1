"""What a person comes back to: the repositories of their sidebar in order, and the last document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta, timezone

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import AUTHOR, ELSEWHERE, READER, REPOSITORY, T0, at, commit, creation
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.counters import NavigationRevision
from chopin_core.errors import ChannelArchived, ChannelMissing, ChopinError, NavigationMissing, UserMissing
from chopin_core.ids import ChannelId, RepositoryId, UserId
from chopin_core.people import Repository
from chopin_core.ports.leases import Lease
from chopin_core.ports.navigation import AddedProject, MovedNavigation, Navigation, Project, Sidebar
from chopin_core.ports.storage import Storage

STORE = "navigation"
pytestmark = pytest.mark.asyncio(loop_scope="function")

EMPTY = Sidebar(projects=(), navigation=None, repository_id=None)


def repository(number: int) -> Repository:
    return Repository(id=RepositoryId(f"R-{number}"), owner="octo", name=f"repository {number}")


def navigation(channel: Channel | None, revision: int, seconds: float = 0) -> Navigation:
    last = None if channel is None else channel.id
    return Navigation(last_document=last, revision=NavigationRevision(revision), updated_at=at(seconds))


def moves(storage: Storage, channel_id: ChannelId, user_id: UserId = AUTHOR.id) -> dict[str, Callable[[], Awaitable[object]]]:
    """Every way to remember a document; none of them expects too much of the navigation."""
    store = storage.navigation
    return {
        "set": lambda: store.set_last_document(user_id, channel_id, now=at(9)),
        "move": lambda: store.move_last_document(user_id, channel_id, expected=None, now=at(9)),
        "visit": lambda: store.record_visit(user_id, channel_id, REPOSITORY, now=at(9)),
    }


@pytest_asyncio.fixture(loop_scope="function")
async def archived(storage: Storage) -> Channel:
    channel = await storage.channels.create(creation("archived"))
    return (await storage.channels.archive(channel.id, now=T0)).channel


# Projects


async def test_projects_come_in_the_order_in_which_they_were_added(storage: Storage, connect: Connect) -> None:
    added = [
        await storage.navigation.add_project(AUTHOR.id, repository(number), now=at(-place))
        for place, number in enumerate((2, 1, 3))
    ]

    expected = [
        Project(repository=repository(number), position=place, added_at=at(-place)) for place, number in enumerate((2, 1, 3))
    ]
    assert added == [AddedProject(project=project, added=True) for project in expected]
    sidebar = await (await connect()).navigation.sidebar(AUTHOR.id)
    assert sidebar == attrs.evolve(EMPTY, projects=tuple(expected))


async def test_a_project_that_is_there_stays_as_it_was(storage: Storage, connect: Connect) -> None:
    first = await storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0)
    await storage.navigation.add_project(AUTHOR.id, ELSEWHERE, now=T0)

    moved = Repository(id=REPOSITORY.id, owner="somebody", name="renamed")
    again = await (await connect()).navigation.add_project(AUTHOR.id, moved, now=at(5))

    assert again == AddedProject(project=first.project, added=False)
    assert (await storage.navigation.sidebar(AUTHOR.id)).projects[0] == first.project
    assert len((await storage.navigation.sidebar(AUTHOR.id)).projects) == 2


async def test_a_project_does_not_move_the_navigation(storage: Storage, channel: Channel) -> None:
    await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=T0)

    await storage.navigation.add_project(AUTHOR.id, ELSEWHERE, now=at(5))

    assert (await storage.navigation.sidebar(AUTHOR.id)).navigation == navigation(channel, 0)


async def test_everybody_has_a_sidebar_of_their_own(storage: Storage, channel: Channel) -> None:
    await storage.users.put(READER, now=T0)
    await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=T0)

    assert await storage.navigation.sidebar(READER.id) == EMPTY
    added = await storage.navigation.add_project(READER.id, REPOSITORY, now=at(1))
    assert (added.project.position, added.added) == (0, True)
    assert await storage.navigation.set_last_document(READER.id, None, now=at(1)) == navigation(None, 0, 1)
    assert (await storage.navigation.sidebar(AUTHOR.id)).navigation == navigation(channel, 0)


# The last document


async def test_nothing_was_written_at_first(storage: Storage) -> None:
    assert await storage.navigation.sidebar(AUTHOR.id) == EMPTY


async def test_the_revision_counts_every_write_also_of_the_same(storage: Storage, connect: Connect, channel: Channel) -> None:
    other = await storage.channels.create(creation("channel-2"))

    for revision, last in enumerate((channel, channel, other, None, None, channel)):
        id = None if last is None else last.id
        written = await storage.navigation.set_last_document(AUTHOR.id, id, now=at(-revision))
        assert written == navigation(last, revision, -revision)
        assert (await (await connect()).navigation.sidebar(AUTHOR.id)).navigation == written


async def test_the_sidebar_names_the_repository_of_the_last_document(storage: Storage) -> None:
    here = await storage.channels.create(creation("here"))
    there = await storage.channels.create(creation("there", repository=ELSEWHERE))

    for channel, expected in ((there, ELSEWHERE.id), (here, REPOSITORY.id), (None, None)):
        await storage.navigation.set_last_document(AUTHOR.id, None if channel is None else channel.id, now=T0)
        assert (await storage.navigation.sidebar(AUTHOR.id)).repository_id == expected


async def test_an_archived_last_document_stays_and_its_repository_is_not_named(storage: Storage, channel: Channel) -> None:
    written = await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=T0)

    await storage.channels.archive(channel.id, now=at(1))
    assert await storage.navigation.sidebar(AUTHOR.id) == attrs.evolve(EMPTY, navigation=written)

    await storage.channels.restore(channel.id, now=at(2))
    assert await storage.navigation.sidebar(AUTHOR.id) == attrs.evolve(EMPTY, navigation=written, repository_id=REPOSITORY.id)


@pytest.mark.parametrize("way", ["set", "move", "visit"])
async def test_a_document_that_is_unknown_or_archived_is_refused_and_nothing_is_written(
    storage: Storage, archived: Channel, way: str
) -> None:
    for channel_id, refusal in ((ChannelId("unknown"), ChannelMissing), (archived.id, ChannelArchived)):
        with pytest.raises(ChopinError) as caught:
            await moves(storage, channel_id)[way]()
        assert (type(caught.value), caught.value.args) == (refusal, (channel_id,))
        assert await storage.navigation.sidebar(AUTHOR.id) == EMPTY


async def test_a_refused_write_leaves_what_was_written(storage: Storage, channel: Channel, archived: Channel) -> None:
    await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=T0)
    before = await storage.navigation.sidebar(AUTHOR.id)

    for channel_id in (ChannelId("unknown"), archived.id):
        for way in ("set", "move", "visit"):
            with pytest.raises((ChannelMissing, ChannelArchived)):
                await moves(storage, channel_id)[way]()

    assert await storage.navigation.sidebar(AUTHOR.id) == before


async def test_a_write_that_expects_the_present_moves_on(storage: Storage, connect: Connect, channel: Channel) -> None:
    move = storage.navigation.move_last_document

    first = await move(AUTHOR.id, channel.id, expected=None, now=T0)
    second = await move(AUTHOR.id, None, expected=NavigationRevision(0), now=at(1))
    third = await move(AUTHOR.id, channel.id, expected=NavigationRevision(1), now=at(-1))

    assert first == MovedNavigation(navigation=navigation(channel, 0), updated=True)
    assert second == MovedNavigation(navigation=navigation(None, 1, 1), updated=True)
    assert third == MovedNavigation(navigation=navigation(channel, 2, -1), updated=True)
    assert (await (await connect()).navigation.sidebar(AUTHOR.id)).navigation == third.navigation


@pytest.mark.parametrize("expected", [None, 0, 2])
async def test_a_write_that_expects_something_else_learns_the_present(
    storage: Storage, channel: Channel, expected: int | None
) -> None:
    await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=T0)
    current = await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=at(1))

    moved = await storage.navigation.move_last_document(
        AUTHOR.id, None, expected=None if expected is None else NavigationRevision(expected), now=at(2)
    )

    assert moved == MovedNavigation(navigation=current, updated=False)
    assert (await storage.navigation.sidebar(AUTHOR.id)).navigation == current


async def test_a_revision_of_what_was_never_written_is_missing(storage: Storage, channel: Channel, archived: Channel) -> None:
    for channel_id in (channel.id, None):
        with pytest.raises(NavigationMissing) as caught:
            await storage.navigation.move_last_document(AUTHOR.id, channel_id, expected=NavigationRevision(0), now=T0)
        assert caught.value.user_id == AUTHOR.id
    assert await storage.navigation.sidebar(AUTHOR.id) == EMPTY

    for channel_id, refusal in ((ChannelId("unknown"), ChannelMissing), (archived.id, ChannelArchived)):
        with pytest.raises(refusal):
            await storage.navigation.move_last_document(AUTHOR.id, channel_id, expected=NavigationRevision(0), now=T0)


async def test_the_document_is_looked_at_before_the_revision(storage: Storage, channel: Channel, archived: Channel) -> None:
    await storage.navigation.set_last_document(AUTHOR.id, channel.id, now=T0)

    for channel_id, refusal in ((ChannelId("unknown"), ChannelMissing), (archived.id, ChannelArchived)):
        with pytest.raises(refusal):
            await storage.navigation.move_last_document(AUTHOR.id, channel_id, expected=NavigationRevision(9), now=T0)


# Visits


async def test_a_visit_adds_the_project_and_remembers_the_document(
    storage: Storage, connect: Connect, channel: Channel
) -> None:
    await storage.navigation.add_project(AUTHOR.id, ELSEWHERE, now=T0)

    visited = await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=at(1))

    assert visited == navigation(channel, 0, 1)
    sidebar = await (await connect()).navigation.sidebar(AUTHOR.id)
    assert sidebar.projects[1:] == (Project(repository=REPOSITORY, position=1, added_at=at(1)),)
    assert (sidebar.navigation, sidebar.repository_id) == (visited, REPOSITORY.id)


async def test_a_visit_to_a_known_project_leaves_it_and_counts(storage: Storage, channel: Channel) -> None:
    await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=T0)
    before = (await storage.navigation.sidebar(AUTHOR.id)).projects

    renamed = attrs.evolve(REPOSITORY, name="renamed")
    assert await storage.navigation.record_visit(AUTHOR.id, channel.id, renamed, now=at(1)) == navigation(channel, 1, 1)
    assert (await storage.navigation.sidebar(AUTHOR.id)).projects == before


async def test_a_visit_to_a_document_of_another_repository_is_refused(
    storage: Storage, channel: Channel, archived: Channel
) -> None:
    for visited in (channel, archived):
        with pytest.raises(ChannelMissing) as caught:
            await storage.navigation.record_visit(AUTHOR.id, visited.id, ELSEWHERE, now=T0)
        assert caught.value.channel_id == visited.id
    assert await storage.navigation.sidebar(AUTHOR.id) == EMPTY


# The first document


async def test_the_first_document_is_the_latest_of_the_first_project_that_has_one(storage: Storage, lease: Lease) -> None:
    for number in (1, 2, 3):
        await storage.navigation.add_project(AUTHOR.id, repository(number), now=T0)
    await storage.channels.create(creation("later project", repository=repository(3), now=at(99)))
    old = await storage.channels.create(creation("old", repository=repository(2), now=at(1)))
    new = await storage.channels.create(creation("new", repository=repository(2), now=at(2)))
    everywhere = [repository(number).id for number in (3, 2, 1)]

    assert await storage.navigation.first_document(AUTHOR.id, everywhere) == new

    await storage.collaboration.commit(commit(old, now=at(3)), lease=lease)
    assert await storage.navigation.first_document(AUTHOR.id, everywhere) == await storage.channels.get(old.id)


async def test_only_the_given_repositories_that_are_projects_count(storage: Storage) -> None:
    there = await storage.channels.create(creation("there", repository=ELSEWHERE))
    await storage.channels.create(creation("here"))
    await storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0)

    assert await storage.navigation.first_document(AUTHOR.id, []) is None
    assert await storage.navigation.first_document(AUTHOR.id, [ELSEWHERE.id]) is None
    await storage.navigation.add_project(AUTHOR.id, ELSEWHERE, now=T0)
    assert await storage.navigation.first_document(AUTHOR.id, [ELSEWHERE.id, ELSEWHERE.id]) == there


async def test_archived_documents_do_not_count_and_children_do(storage: Storage) -> None:
    await storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0)
    parent = await storage.channels.create(creation("parent", now=at(5)))
    child = await storage.channels.create(creation("child", parent_id=parent.id, now=at(1)))

    await storage.channels.archive(parent.id, now=at(6))
    assert await storage.navigation.first_document(AUTHOR.id, [REPOSITORY.id]) == child

    await storage.channels.archive(child.id, now=at(7))
    assert await storage.navigation.first_document(AUTHOR.id, [REPOSITORY.id]) is None


async def test_of_one_instant_the_smallest_id_comes_first(storage: Storage) -> None:
    await storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0)
    for id in ("b", "a", "é", "Z", "_"):
        await storage.channels.create(creation(id))

    first = await storage.navigation.first_document(AUTHOR.id, [REPOSITORY.id])

    assert first is not None
    assert first.id == "Z"


# Whose


async def test_somebody_unknown_is_refused_by_every_method_before_anything_else(storage: Storage, archived: Channel) -> None:
    nobody = UserId("nobody")
    store = storage.navigation
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: store.sidebar(nobody),
        lambda: store.first_document(nobody, [REPOSITORY.id]),
        lambda: store.first_document(nobody, []),
        lambda: store.add_project(nobody, REPOSITORY, now=T0),
        lambda: store.set_last_document(nobody, None, now=T0),
        lambda: store.move_last_document(nobody, None, expected=NavigationRevision(3), now=T0),
    ]
    for channel_id in (ChannelId("unknown"), archived.id):
        calls += moves(storage, channel_id, nobody).values()

    for call in calls:
        with pytest.raises(UserMissing) as caught:
            await call()
        assert caught.value.user_id == nobody


async def test_navigation_moves_no_channel(storage: Storage, channel: Channel) -> None:
    for call in moves(storage, channel.id).values():
        await call()

    assert await storage.channels.get(channel.id) == channel


async def test_the_instants_of_the_sidebar_come_back_in_utc(storage: Storage, channel: Channel) -> None:
    now = at(1).astimezone(timezone(timedelta(hours=9)))
    visited = await storage.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=now)

    [project] = (await storage.navigation.sidebar(AUTHOR.id)).projects
    for instant in (visited.updated_at, project.added_at):
        assert (instant, instant.tzinfo) == (at(1), UTC)


# Text


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_project_of_any_name_a_column_can_keep_comes_back_exactly(storage: Storage, text: str) -> None:
    named = Repository(id=RepositoryId(text), owner=text, name=text)

    added = await storage.navigation.add_project(AUTHOR.id, named, now=T0)

    assert added.project.repository == named
    assert (await storage.navigation.sidebar(AUTHOR.id)).projects == (added.project,)


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_name_is_missing(storage: Storage, channel: Channel, text: str) -> None:
    await storage.navigation.add_project(AUTHOR.id, REPOSITORY, now=T0)

    assert await storage.navigation.first_document(AUTHOR.id, [RepositoryId(text), REPOSITORY.id]) == channel
    for call in moves(storage, ChannelId(text)).values():
        with pytest.raises(ChannelMissing):
            await call()
    for call in moves(storage, channel.id, UserId(text)).values():
        with pytest.raises(UserMissing):
            await call()
    for read in (lambda: storage.navigation.sidebar(UserId(text)), lambda: storage.navigation.first_document(UserId(text), [])):
        with pytest.raises(UserMissing):
            await read()
