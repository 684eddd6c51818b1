"""Eight that move one person's navigation at once leave positions without gap, and count every write."""

from __future__ import annotations

import pytest

from chopin_contract_tests.builders import AUTHOR, REPOSITORY, T0, at, creation
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_navigation import repository
from chopin_core.channel import Channel
from chopin_core.counters import NavigationRevision
from chopin_core.errors import ChannelArchived
from chopin_core.ports.storage import Storage

STORE = "navigation"
pytestmark = pytest.mark.asyncio(loop_scope="function")


async def test_eight_projects_added_at_once_have_positions_without_gap_or_double(sides: list[Storage]) -> None:
    for turn in range(3):
        raced = await race(
            *(
                side.navigation.add_project(AUTHOR.id, repository(turn * WRITERS + number), now=T0)
                for number, side in enumerate(sides)
            )
        )

        assert all(added.added for added in raced.won)
        projects = (await sides[0].navigation.sidebar(AUTHOR.id)).projects
        assert [project.position for project in projects] == list(range((turn + 1) * WRITERS))
        assert set(projects[turn * WRITERS :]) == {added.project for added in raced.won}


async def test_one_project_added_eight_times_at_once_is_added_once(sides: list[Storage]) -> None:
    raced = await race(
        *(side.navigation.add_project(AUTHOR.id, REPOSITORY, now=at(number)) for number, side in enumerate(sides))
    )

    assert sum(added.added for added in raced.won) == 1
    assert {added.project for added in raced.won} == set((await sides[0].navigation.sidebar(AUTHOR.id)).projects)
    assert len({added.project for added in raced.won}) == 1


async def test_of_eight_that_expect_one_revision_one_moves_the_navigation(sides: list[Storage]) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]

    for expected in (None, NavigationRevision(0), NavigationRevision(1)):
        raced = await race(
            *(
                side.navigation.move_last_document(AUTHOR.id, channel.id, expected=expected, now=T0)
                for side, channel in zip(sides, channels, strict=True)
            )
        )

        assert not raced.refused
        [winner] = [moved.navigation for moved in raced.won if moved.updated]
        assert {moved.navigation for moved in raced.won} == {winner}
        assert (await sides[0].navigation.sidebar(AUTHOR.id)).navigation == winner


async def test_eight_visits_at_once_are_all_counted(sides: list[Storage]) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(WRITERS)]

    raced = await race(
        *(
            side.navigation.record_visit(AUTHOR.id, channel.id, REPOSITORY, now=T0)
            for side, channel in zip(sides, channels, strict=True)
        )
    )

    assert sorted(visited.revision for visited in raced.won) == list(range(WRITERS))
    sidebar = await sides[0].navigation.sidebar(AUTHOR.id)
    assert sidebar.navigation == max(raced.won, key=lambda visited: visited.revision)
    assert len(sidebar.projects) == 1


async def test_visits_and_an_archive_at_once_leave_the_project_exactly_if_a_visit_was_first(sides: list[Storage]) -> None:
    for turn in range(5):
        place = repository(turn)
        channel = await sides[0].channels.create(creation(f"channel-{turn}", repository=place))

        async def attempt(number: int, side: Storage, channel: Channel = channel) -> object:
            if number == 0:
                return await side.channels.archive(channel.id, now=at(1))
            return await side.navigation.record_visit(AUTHOR.id, channel.id, channel.repository, now=T0)

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert raced.refusals() <= {(ChannelArchived, (channel.id,))}
        added = {project.repository for project in (await sides[0].navigation.sidebar(AUTHOR.id)).projects}
        assert (place in added) is (len(raced.won) > 1)
