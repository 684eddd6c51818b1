"""A paired machine is found by its token until its owner revokes it, and its credentials are rotated one at a time."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import attrs
import pytest
import pytest_asyncio

from chopin_contract_tests.builders import AUTHOR, READER, REPOSITORY, T0, at, pairing
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_lists import IDS
from chopin_contract_tests.test_text import STORABLE, UNSTORABLE
from chopin_core.counters import CredentialRevision
from chopin_core.errors import InvalidField, MachineExists, MachineMissing, UserMissing
from chopin_core.ids import MachineId, RepositoryId, UserId
from chopin_core.ports.machines import Machine, MachineCredentials
from chopin_core.ports.storage import Storage

STORE = "machines"
pytestmark = pytest.mark.asyncio(loop_scope="function")

UNKNOWN = MachineId("unknown")


def secret(revision: int = 1, ciphertext: bytes = b"cipher") -> MachineCredentials:
    return MachineCredentials(ciphertext=ciphertext, revision=CredentialRevision(revision))


@pytest_asyncio.fixture(loop_scope="function")
async def machine(storage: Storage) -> Machine:
    """The author's, with credentials at revision 1; somebody else is known, too."""
    await storage.users.put(READER, now=T0)
    return await storage.machines.pair(pairing(ciphertext=b"cipher"))


@pytest_asyncio.fixture(loop_scope="function")
async def revoked(storage: Storage, machine: Machine) -> Machine:
    gone = await storage.machines.pair(pairing("revoked", ciphertext=b"cipher"))
    await storage.machines.revoke(gone.id, owner=AUTHOR.id, now=at(1))
    return attrs.evolve(gone, credentials=None, revoked_at=at(1))


# Paired


@pytest.mark.parametrize("ciphertext", [b"cipher", b"", bytes(range(256)), None])
async def test_a_paired_machine_comes_back_as_it_was_given(
    storage: Storage, connect: Connect, ciphertext: bytes | None
) -> None:
    given = pairing(repositories=frozenset({REPOSITORY.id, RepositoryId("R_2")}), auto_run=True, ciphertext=ciphertext)

    paired = await storage.machines.pair(given)

    assert paired == Machine(
        id=given.id,
        owner=AUTHOR.id,
        label=given.label,
        repositories=given.repositories,
        auto_run=True,
        credentials=None if ciphertext is None else secret(ciphertext=ciphertext),
        last_contact_at=None,
        created_at=T0,
        revoked_at=None,
    )
    other = await connect()
    assert [await other.machines.get(given.id), await other.machines.find(given.token_hash)] == [paired, paired]


async def test_a_machine_of_nobody_is_refused_and_not_kept(storage: Storage) -> None:
    with pytest.raises(UserMissing) as caught:
        await storage.machines.pair(pairing(owner=UserId("nobody")))

    assert caught.value.user_id == "nobody"
    assert await storage.machines.get(pairing().id) is None


async def test_an_unknown_owner_is_told_before_a_machine_that_exists(storage: Storage, machine: Machine) -> None:
    with pytest.raises(UserMissing):
        await storage.machines.pair(pairing(owner=UserId("nobody")))


async def test_an_id_or_a_token_in_use_is_refused_and_nothing_changes(storage: Storage, machine: Machine) -> None:
    same_id, same_token = pairing(token_hash=b"another"), pairing("another", token_hash=pairing().token_hash)

    for taken in (same_id, same_token):
        with pytest.raises(MachineExists) as caught:
            await storage.machines.pair(attrs.evolve(taken, owner=READER.id, label="other", ciphertext=b"other"))
        assert caught.value.machine_id == taken.id

    assert await storage.machines.get(machine.id) == machine
    assert await storage.machines.get(same_token.id) is None
    assert await storage.machines.find(same_id.token_hash) is None
    assert await storage.machines.of(READER.id) == ()


async def test_a_revoked_machine_keeps_its_id_and_token_in_use(storage: Storage, revoked: Machine) -> None:
    token_hash = pairing("revoked").token_hash

    for taken in (pairing("revoked", token_hash=b"another"), pairing("another", token_hash=token_hash)):
        with pytest.raises(MachineExists):
            await storage.machines.pair(taken)
    assert await storage.machines.get(revoked.id) == revoked


async def test_the_instants_of_a_machine_come_back_in_utc(storage: Storage) -> None:
    zone = timezone(timedelta(hours=-7))
    paired = await storage.machines.pair(pairing(now=at(1).astimezone(zone)))
    await storage.machines.touch(paired.id, now=at(2).astimezone(zone))
    await storage.machines.revoke(paired.id, owner=AUTHOR.id, now=at(3).astimezone(zone))

    machine = await storage.machines.get(paired.id)

    assert machine is not None
    assert machine.last_contact_at is not None
    assert machine.revoked_at is not None
    instants = [machine.created_at, machine.last_contact_at, machine.revoked_at]
    assert instants == [at(1), at(2), at(3)]
    assert {instant.tzinfo for instant in instants} == {UTC}


# Found


async def test_what_was_never_paired_is_not_found(storage: Storage, machine: Machine) -> None:
    assert await storage.machines.get(UNKNOWN) is None
    assert await storage.machines.find(b"") is None
    assert await storage.machines.find(pairing().token_hash + b"\0") is None
    assert await storage.machines.of(READER.id) == ()
    assert await storage.machines.of(UserId("nobody")) == ()


async def test_a_revoked_machine_is_found_by_id_alone(storage: Storage, machine: Machine, revoked: Machine) -> None:
    assert await storage.machines.get(revoked.id) == revoked
    assert revoked.revoked
    assert await storage.machines.find(pairing("revoked").token_hash) is None
    assert await storage.machines.of(AUTHOR.id) == (machine,)


async def test_a_persons_machines_come_with_the_latest_first(storage: Storage, connect: Connect) -> None:
    await storage.users.put(READER, now=T0)
    await storage.machines.pair(pairing("theirs", owner=READER.id, now=at(9)))
    for id, seconds in (("a", 2), ("b", 3), ("c", 1)):
        await storage.machines.pair(pairing(id, now=at(seconds)))

    assert [machine.id for machine in await (await connect()).machines.of(AUTHOR.id)] == ["b", "a", "c"]


async def test_machines_of_one_instant_come_in_code_point_order(storage: Storage) -> None:
    for id in reversed(IDS):
        await storage.machines.pair(pairing(id))

    assert [machine.id for machine in await storage.machines.of(AUTHOR.id)] == IDS


# Changed


async def test_its_owner_may_change_label_repositories_and_habit(storage: Storage, connect: Connect, machine: Machine) -> None:
    here = frozenset({REPOSITORY.id})

    changed = await storage.machines.change(machine.id, owner=AUTHOR.id, label="Other", repositories=here, auto_run=True)

    assert changed == attrs.evolve(machine, label="Other", repositories=here, auto_run=True)
    assert await (await connect()).machines.get(machine.id) == changed


async def test_the_contact_never_goes_back_in_time(storage: Storage, connect: Connect, machine: Machine) -> None:
    for seconds, latest in ((5, 5), (3, 5), (5, 5), (8, 8)):
        assert await (await connect()).machines.touch(machine.id, now=at(seconds)) is True
        assert await storage.machines.get(machine.id) == attrs.evolve(machine, last_contact_at=at(latest))


async def test_what_is_unknown_or_revoked_has_no_contact(storage: Storage, machine: Machine, revoked: Machine) -> None:
    for id in (UNKNOWN, revoked.id):
        assert await storage.machines.touch(id, now=at(9)) is False
    assert await storage.machines.get(revoked.id) == revoked
    assert await storage.machines.get(machine.id) == machine


async def test_only_its_owner_can_change_or_authorize_a_machine_and_none_that_was_revoked(
    storage: Storage, machine: Machine, revoked: Machine
) -> None:
    for id, owner in (
        (machine.id, READER.id),
        (machine.id, UserId("nobody")),
        (UNKNOWN, AUTHOR.id),
        (revoked.id, AUTHOR.id),
    ):
        with pytest.raises(MachineMissing) as changed:
            await storage.machines.change(id, owner=owner, label="other", repositories=frozenset(), auto_run=True)
        with pytest.raises(MachineMissing) as authorized:  # before the token, which is in use
            token_hash = pairing("revoked").token_hash
            await storage.machines.authorize(id, owner=owner, token_hash=token_hash, ciphertext=b"other")
        assert (changed.value.machine_id, authorized.value.machine_id) == (id, id)

    assert await storage.machines.get(machine.id) == machine
    assert await storage.machines.get(revoked.id) == revoked


# Credentials


async def test_credentials_are_rotated_one_revision_at_a_time(storage: Storage, connect: Connect, machine: Machine) -> None:
    for revision in (2, 3):
        fresh = secret(revision, b"rotated %d" % revision)
        assert await (await connect()).machines.rotate(machine.id, fresh) is True
        assert await storage.machines.get(machine.id) == attrs.evolve(machine, credentials=fresh)

    for revision in (1, 2, 3, 5):
        assert await storage.machines.rotate(machine.id, secret(revision, b"stale")) is False
    assert await storage.machines.get(machine.id) == attrs.evolve(machine, credentials=secret(3, b"rotated 3"))


async def test_rotation_gives_no_credentials_to_a_machine_without(storage: Storage, revoked: Machine) -> None:
    bare = await storage.machines.pair(pairing("bare"))

    for id in (bare.id, revoked.id, UNKNOWN):
        for revision in (1, 2):
            assert await storage.machines.rotate(id, secret(revision)) is False
    assert await storage.machines.get(bare.id) == bare
    assert await storage.machines.get(revoked.id) == revoked


async def test_authorizing_again_replaces_token_and_credentials(storage: Storage, connect: Connect, machine: Machine) -> None:
    await storage.machines.rotate(machine.id, secret(2))

    again = await storage.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=b"new token", ciphertext=b"new")

    assert again == attrs.evolve(machine, credentials=secret(3, b"new"))
    other = await connect()
    assert await other.machines.find(b"new token") == again
    assert await other.machines.find(pairing().token_hash) is None


async def test_the_first_authorization_has_revision_1(storage: Storage) -> None:
    bare = await storage.machines.pair(pairing())

    authorized = await storage.machines.authorize(bare.id, owner=AUTHOR.id, token_hash=b"new", ciphertext=b"cipher")

    assert authorized == attrs.evolve(bare, credentials=secret())


async def test_a_machine_may_be_authorized_with_the_token_it_has(storage: Storage, machine: Machine) -> None:
    token_hash = pairing().token_hash

    again = await storage.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=token_hash, ciphertext=b"new")

    assert again == await storage.machines.find(token_hash) == attrs.evolve(machine, credentials=secret(2, b"new"))


async def test_the_token_of_another_machine_is_refused_and_nothing_changes(
    storage: Storage, machine: Machine, revoked: Machine
) -> None:
    other = await storage.machines.pair(pairing("other"))

    for taken in ("other", "revoked"):
        with pytest.raises(MachineExists) as caught:
            await storage.machines.authorize(
                machine.id, owner=AUTHOR.id, token_hash=pairing(taken).token_hash, ciphertext=b"new"
            )
        assert caught.value.machine_id == machine.id

    assert await storage.machines.find(pairing().token_hash) == machine
    assert await storage.machines.find(pairing("other").token_hash) == other


# Revoked


async def test_revocation_ends_a_machine_for_good_and_discards_its_credentials(
    storage: Storage, connect: Connect, machine: Machine
) -> None:
    await storage.machines.touch(machine.id, now=at(1))

    revoked = [await (await connect()).machines.revoke(machine.id, owner=AUTHOR.id, now=at(n)) for n in (2, 3)]

    assert revoked == [True, False]
    assert await storage.machines.get(machine.id) == attrs.evolve(
        machine, credentials=None, last_contact_at=at(1), revoked_at=at(2)
    )
    assert await storage.machines.find(pairing().token_hash) is None


async def test_only_its_owner_can_revoke_a_machine(storage: Storage, machine: Machine) -> None:
    for id, owner in ((machine.id, READER.id), (machine.id, UserId("nobody")), (UNKNOWN, AUTHOR.id)):
        assert await storage.machines.revoke(id, owner=owner, now=at(1)) is False
    assert await storage.machines.find(pairing().token_hash) == machine


# At once


async def test_of_eight_machines_with_one_token_one_is_paired(sides: list[Storage]) -> None:
    raced = await race(
        *(side.machines.pair(pairing(f"machine-{number}", token_hash=b"token")) for number, side in enumerate(sides))
    )

    assert len(raced.won) == 1
    assert {type(refused) for refused in raced.refused} == {MachineExists}
    assert await sides[0].machines.of(AUTHOR.id) == (raced.won[0],)
    assert await sides[0].machines.find(b"token") == raced.won[0]


async def test_of_eight_rotations_over_one_revision_one_happens(sides: list[Storage], machine: Machine) -> None:
    fresh = [secret(2, b"by %d" % number) for number in range(WRITERS)]

    raced = await race(*(side.machines.rotate(machine.id, one) for side, one in zip(sides, fresh, strict=True)))

    assert sorted(raced.won) == [False] * (WRITERS - 1) + [True]
    assert await sides[0].machines.get(machine.id) == attrs.evolve(machine, credentials=fresh[list(raced.won).index(True)])


async def test_eight_authorizations_at_once_are_all_counted(sides: list[Storage], machine: Machine) -> None:
    raced = await race(
        *(
            side.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=b"%d" % number, ciphertext=b"%d" % number)
            for number, side in enumerate(sides)
        )
    )

    revisions = {one.credentials.revision: one for one in raced.won if one.credentials is not None}
    assert sorted(revisions) == list(range(2, WRITERS + 2))
    last = revisions[CredentialRevision(WRITERS + 1)]
    assert last.credentials is not None
    assert await sides[0].machines.find(last.credentials.ciphertext) == last
    found = [await sides[0].machines.find(b"%d" % number) for number in range(WRITERS)]
    assert sum(machine is not None for machine in found) == 1


async def test_of_eight_revocations_one_happens_and_no_credentials_come_back(sides: list[Storage], machine: Machine) -> None:
    async def attempt(number: int, side: Storage) -> object:
        if number % 2:
            return await side.machines.revoke(machine.id, owner=AUTHOR.id, now=at(1))
        return await side.machines.authorize(machine.id, owner=AUTHOR.id, token_hash=b"%d" % number, ciphertext=b"new")

    raced = await race(*(attempt(number, side) for number, side in enumerate(sides)))

    assert raced.refusals() <= {(MachineMissing, (machine.id,))}
    assert sum(won is True for won in raced.won) == 1
    assert await sides[0].machines.get(machine.id) == attrs.evolve(machine, credentials=None, revoked_at=at(1))


# Text


@pytest.mark.parametrize("text", STORABLE.values(), ids=STORABLE.keys())
async def test_a_label_of_any_text_a_column_can_keep_comes_back_exactly(storage: Storage, text: str) -> None:
    paired = await storage.machines.pair(pairing(text, label=text))
    assert await storage.machines.get(MachineId(text)) == paired
    assert paired.label == text

    changed = await storage.machines.change(
        paired.id, owner=AUTHOR.id, label=text + "!", repositories=frozenset(), auto_run=False
    )
    assert changed.label == text + "!"


@pytest.mark.parametrize("text", [*STORABLE.values(), *UNSTORABLE.values()], ids=[*STORABLE, *UNSTORABLE])
async def test_repositories_of_any_name_survive(storage: Storage, text: str) -> None:
    names = frozenset({RepositoryId(text), REPOSITORY.id})

    paired = await storage.machines.pair(pairing(repositories=names))

    assert paired.repositories == names
    assert await storage.machines.get(paired.id) == paired


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_keep_is_refused_or_never_found(storage: Storage, machine: Machine, text: str) -> None:
    for field in ("id", "owner", "label"):
        with pytest.raises(InvalidField) as caught:
            pairing(**{field: text})
        assert caught.value.field == field
    with pytest.raises(InvalidField) as caught:
        await storage.machines.change(machine.id, owner=AUTHOR.id, label=text, repositories=frozenset(), auto_run=False)
    assert caught.value.field == "label"

    id, owner = MachineId(text), UserId(text)
    assert await storage.machines.get(id) is None
    assert await storage.machines.of(owner) == ()
    assert await storage.machines.touch(id, now=T0) is False
    assert await storage.machines.rotate(id, secret(2)) is False
    for machine_id, owner_id in ((id, AUTHOR.id), (machine.id, owner)):
        assert await storage.machines.revoke(machine_id, owner=owner_id, now=T0) is False
        with pytest.raises(MachineMissing):
            await storage.machines.change(machine_id, owner=owner_id, label="other", repositories=frozenset(), auto_run=True)
        with pytest.raises(MachineMissing):
            await storage.machines.authorize(machine_id, owner=owner_id, token_hash=b"other", ciphertext=b"other")
    assert await storage.machines.get(machine.id) == machine
