"""Which machine works for a person: one favourite at most, and a choice for each document, until the machine is revoked."""

from __future__ import annotations

import pytest
import pytest_asyncio

from chopin_contract_tests.builders import AUTHOR, READER, T0, at, creation, pairing
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import race
from chopin_contract_tests.test_text import UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.errors import ChannelMissing, MachineMissing, UserMissing
from chopin_core.ids import ChannelId, MachineId, UserId
from chopin_core.ports.machines import Machine
from chopin_core.ports.storage import Storage

STORE = "machines"
pytestmark = pytest.mark.asyncio(loop_scope="function")

NOBODY, NOWHERE, NOTHING = UserId("nobody"), ChannelId("nowhere"), MachineId("nothing")


@pytest_asyncio.fixture(loop_scope="function")
async def machine(storage: Storage) -> Machine:
    return await storage.machines.pair(pairing("machine"))


@pytest_asyncio.fixture(loop_scope="function")
async def spare(storage: Storage) -> Machine:
    return await storage.machines.pair(pairing("spare"))


@pytest_asyncio.fixture(loop_scope="function")
async def unfit(storage: Storage) -> list[MachineId]:
    """Machines that cannot work for the author: unknown, somebody else's, revoked."""
    await storage.users.put(READER, now=T0)
    foreign = await storage.machines.pair(pairing("foreign", owner=READER.id))
    revoked = await storage.machines.pair(pairing("revoked"))
    await storage.machines.revoke(revoked.id, owner=AUTHOR.id, now=T0)
    return [NOTHING, foreign.id, revoked.id]


async def test_nothing_is_chosen_at_first(storage: Storage, channel: Channel, machine: Machine) -> None:
    assert await storage.machines.chosen(AUTHOR.id, channel.id) is None
    assert await storage.machines.favourite(AUTHOR.id) is None
    assert await storage.machines.chosen(NOBODY, NOWHERE) is None
    assert await storage.machines.favourite(NOBODY) is None


async def test_the_last_choice_for_a_document_counts(
    storage: Storage, connect: Connect, channel: Channel, machine: Machine, spare: Machine
) -> None:
    for chosen in (machine.id, machine.id, spare.id, None, None, machine.id):
        await storage.machines.choose(AUTHOR.id, channel.id, chosen)
        assert await (await connect()).machines.chosen(AUTHOR.id, channel.id) == chosen


async def test_a_choice_is_for_one_person_and_one_document(
    storage: Storage, channel: Channel, machine: Machine, spare: Machine
) -> None:
    await storage.users.put(READER, now=T0)
    other = await storage.channels.create(creation("channel-2"))
    theirs = await storage.machines.pair(pairing("theirs", owner=READER.id))
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)
    await storage.machines.choose(AUTHOR.id, other.id, spare.id)
    await storage.machines.choose(READER.id, channel.id, theirs.id)

    await storage.machines.choose(AUTHOR.id, other.id, None)

    assert await storage.machines.chosen(AUTHOR.id, channel.id) == machine.id
    assert await storage.machines.chosen(AUTHOR.id, other.id) is None
    assert await storage.machines.chosen(READER.id, channel.id) == theirs.id
    assert await storage.machines.favourite(AUTHOR.id) is None


async def test_a_choice_survives_archiving_and_may_be_made_there(
    storage: Storage, channel: Channel, machine: Machine, spare: Machine
) -> None:
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)
    archived = (await storage.channels.archive(channel.id, now=at(1))).channel
    assert await storage.machines.chosen(AUTHOR.id, channel.id) == machine.id

    await storage.machines.choose(AUTHOR.id, channel.id, spare.id)

    assert await storage.machines.chosen(AUTHOR.id, channel.id) == spare.id
    assert await storage.channels.get(channel.id) == archived


async def test_there_is_one_favourite_at_most(storage: Storage, connect: Connect, machine: Machine, spare: Machine) -> None:
    await storage.users.put(READER, now=T0)
    theirs = await storage.machines.pair(pairing("theirs", owner=READER.id))
    await storage.machines.favour(READER.id, theirs.id)

    for favourite in (machine.id, machine.id, spare.id, None, None, machine.id):
        await storage.machines.favour(AUTHOR.id, favourite)
        assert await (await connect()).machines.favourite(AUTHOR.id) == favourite
    assert await storage.machines.favourite(READER.id) == theirs.id


async def test_a_choice_needs_a_person_then_a_document_then_a_machine(
    storage: Storage, channel: Channel, machine: Machine, unfit: list[MachineId]
) -> None:
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)

    for chosen in (machine.id, None, *unfit):
        for channel_id in (channel.id, NOWHERE):
            with pytest.raises(UserMissing) as nobody:
                await storage.machines.choose(NOBODY, channel_id, chosen)
            assert nobody.value.user_id == NOBODY
        with pytest.raises(ChannelMissing) as nowhere:
            await storage.machines.choose(AUTHOR.id, NOWHERE, chosen)
        assert nowhere.value.channel_id == NOWHERE
    for chosen in unfit:
        with pytest.raises(MachineMissing) as nothing:
            await storage.machines.choose(AUTHOR.id, channel.id, chosen)
        assert nothing.value.machine_id == chosen

    assert await storage.machines.chosen(AUTHOR.id, channel.id) == machine.id


async def test_a_favourite_needs_a_person_then_a_machine(storage: Storage, machine: Machine, unfit: list[MachineId]) -> None:
    await storage.machines.favour(AUTHOR.id, machine.id)

    for favourite in (machine.id, None, *unfit):
        with pytest.raises(UserMissing) as nobody:
            await storage.machines.favour(NOBODY, favourite)
        assert nobody.value.user_id == NOBODY
    for favourite in unfit:
        with pytest.raises(MachineMissing) as nothing:
            await storage.machines.favour(AUTHOR.id, favourite)
        assert nothing.value.machine_id == favourite

    assert await storage.machines.favourite(AUTHOR.id) == machine.id


async def test_a_revoked_machine_is_nobodys_choice_or_favourite_any_more(
    storage: Storage, channel: Channel, machine: Machine, spare: Machine
) -> None:
    places = [channel, *[await storage.channels.create(creation(f"channel-{number}")) for number in (2, 3)]]
    for place in places[:2]:
        await storage.machines.choose(AUTHOR.id, place.id, machine.id)
    await storage.machines.choose(AUTHOR.id, places[2].id, spare.id)
    await storage.machines.favour(AUTHOR.id, machine.id)

    await storage.machines.revoke(machine.id, owner=AUTHOR.id, now=at(1))

    assert [await storage.machines.chosen(AUTHOR.id, place.id) for place in places] == [None, None, spare.id]
    assert await storage.machines.favourite(AUTHOR.id) is None


async def test_a_refused_revocation_leaves_choices_and_favourites(storage: Storage, channel: Channel, machine: Machine) -> None:
    await storage.users.put(READER, now=T0)
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)
    await storage.machines.favour(AUTHOR.id, machine.id)

    assert await storage.machines.revoke(machine.id, owner=READER.id, now=at(1)) is False

    assert await storage.machines.chosen(AUTHOR.id, channel.id) == machine.id
    assert await storage.machines.favourite(AUTHOR.id) == machine.id


async def test_other_changes_of_a_machine_leave_choices_and_favourites(
    storage: Storage, channel: Channel, machine: Machine
) -> None:
    await storage.machines.choose(AUTHOR.id, channel.id, machine.id)
    await storage.machines.favour(AUTHOR.id, machine.id)

    await storage.machines.touch(machine.id, now=at(1))
    await storage.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=b"new", ciphertext=b"new")
    await storage.machines.change(machine.id, owner=AUTHOR.id, label="", repositories=frozenset(), auto_run=True)

    assert await storage.machines.chosen(AUTHOR.id, channel.id) == machine.id
    assert await storage.machines.favourite(AUTHOR.id) == machine.id


async def test_a_machine_that_is_revoked_while_it_is_chosen_is_chosen_nowhere(sides: list[Storage]) -> None:
    channels = [await sides[0].channels.create(creation(f"channel-{number}")) for number in range(4)]
    for turn in range(5):
        machine = await sides[0].machines.pair(pairing(f"machine-{turn}"))

        async def attempt(number: int, side: Storage, machine: Machine = machine) -> object:
            if number == 0:
                return await side.machines.revoke(machine.id, owner=AUTHOR.id, now=at(1))
            if number < 5:
                await side.machines.choose(AUTHOR.id, channels[number - 1].id, machine.id)
            else:
                await side.machines.favour(AUTHOR.id, machine.id)
            return None

        raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

        assert True in raced.won
        assert raced.refusals() <= {(MachineMissing, (machine.id,))}
        assert [await sides[0].machines.chosen(AUTHOR.id, channel.id) for channel in channels] == [None] * 4
        assert await sides[0].machines.favourite(AUTHOR.id) is None


async def test_of_eight_choices_at_once_one_is_left(sides: list[Storage], channel: Channel) -> None:
    machines = [await sides[0].machines.pair(pairing(f"machine-{number}")) for number in range(len(sides))]

    for turn in range(3):
        raced = await race(
            *(
                side.machines.choose(AUTHOR.id, channel.id, None if turn and place == 0 else machine.id)
                for place, (side, machine) in enumerate(zip(sides, machines, strict=True))
            ),
            *(side.machines.favour(AUTHOR.id, machine.id) for side, machine in zip(sides, machines, strict=True)),
        )

        assert not raced.refused
        assert await sides[0].machines.chosen(AUTHOR.id, channel.id) in {None, *(machine.id for machine in machines)}
        assert await sides[0].machines.favourite(AUTHOR.id) in {machine.id for machine in machines}


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_name_is_missing_or_never_chosen(
    storage: Storage, channel: Channel, machine: Machine, text: str
) -> None:
    for chosen in (machine.id, None):
        with pytest.raises(UserMissing):
            await storage.machines.choose(UserId(text), channel.id, chosen)
        with pytest.raises(ChannelMissing):
            await storage.machines.choose(AUTHOR.id, ChannelId(text), chosen)
        with pytest.raises(UserMissing):
            await storage.machines.favour(UserId(text), chosen)
    with pytest.raises(MachineMissing):
        await storage.machines.choose(AUTHOR.id, channel.id, MachineId(text))
    with pytest.raises(MachineMissing):
        await storage.machines.favour(AUTHOR.id, MachineId(text))

    assert await storage.machines.chosen(UserId(text), channel.id) is None
    assert await storage.machines.chosen(AUTHOR.id, ChannelId(text)) is None
    assert await storage.machines.favourite(UserId(text)) is None
