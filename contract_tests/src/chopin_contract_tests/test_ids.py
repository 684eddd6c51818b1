"""What is no id, or not quite somebody's, is nobody's: every place of the ports that takes an id says so as the model does."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from random import randbytes
from typing import Any, Final, NewType, get_args, get_type_hints

import attrs
import pytest

from chopin_contract_tests.builders import T0, pairing
from chopin_contract_tests.peopled import STORES, World, methods_of, peopled
from chopin_contract_tests.twins import outcome
from chopin_core import ids
from chopin_core.errors import Corrupt, InvalidField, Unavailable
from chopin_core.ids import ChannelId, JobId, OperationId, RepositoryId, SessionId, UserId
from chopin_core.memory.storage import MemoryStorage
from chopin_core.people import Person, Repository
from chopin_core.ports.storage import Storage
from chopin_core.text import LONGEST_KEY

STORE = "storage"
pytestmark = pytest.mark.asyncio(loop_scope="function")

KEYS: Final = frozenset({"slug", "sha256", "idempotency_key"})
"""Arguments of type ``str`` by which something is found, as by an id."""

IDS: Final = frozenset(value for value in vars(ids).values() if isinstance(value, NewType))
NAMED: Final = [store for store in STORES if store != "leases"]
"""Leases have names, which people choose; see ``test_text.py``."""


def not_quite(id: str) -> list[str]:
    """What is not that id, though somebody careless might take it for it; and what is no id at all."""
    near = [f"{id}\n", f" {id}", id.upper(), f"{id}\0", f"{id}\ud800", f"{id}\u0301", id.replace("1", "١")]
    return [*near, "", "\n", "\0", "1" * 21, "١٢٣", "%", "..", "x" * 4096, f"{id}{'😀' * LONGEST_KEY}"]


def not_quite_the(number: int, id: str) -> str:
    return not_quite(id)[number]


def names_ids(kind: Any) -> bool:
    return kind in IDS or any(map(names_ids, get_args(kind)))


def holders(kind: Any) -> Iterator[type]:
    """The values of ours that a type speaks of."""
    for part in (kind, *get_args(kind)):
        if isinstance(part, type) and attrs.has(part):
            yield part


def carries_ids(kind: Any) -> bool:
    return names_ids(kind) or any(carries_ids(field) for holder in holders(kind) for field in get_type_hints(holder).values())


def changed(value: Any, kind: Any, replace: Callable[[str], str]) -> Iterator[Callable[[], Any]]:
    """Ways to make the value anew with one of its ids replaced."""
    if names_ids(kind):
        single = value is None or isinstance(value, str)
        yield partial(replace, value or "job-1") if single else partial(map_into, value, replace)
    elif isinstance(value, tuple) and (kinds := get_args(kind)):
        for place, item in enumerate(value):
            for made in changed(item, kinds[0], replace):
                yield partial(exchanged, value, place, made)
    elif attrs.has(type(value)) and any(isinstance(value, holder) for holder in holders(kind)):
        hints = get_type_hints(type(value))
        for field in attrs.fields(type(value)):
            for made in changed(getattr(value, field.name), hints[field.name], replace) if field.init else ():
                yield partial(evolved, value, field.name, made)


def map_into(values: Collection[str], replace: Callable[[str], str]) -> Collection[str]:
    made: Callable[[Iterable[str]], Collection[str]] = type(values)
    return made(map(replace, values))


def exchanged(values: tuple[Any, ...], place: int, made: Callable[[], Any]) -> tuple[Any, ...]:
    return (*values[:place], made(), *values[place + 1 :])


def evolved(value: Any, name: str, made: Callable[[], Any]) -> Any:
    return attrs.evolve(value, **{name: made()})


def types(method: Any) -> dict[str, Any]:
    """The types of a method's arguments; what finds something counts as an id."""
    return {name: JobId if name in KEYS else kind for name, kind in get_type_hints(method).items() if name != "return"}


def arguments(world: World, store: str, method: Any) -> dict[str, tuple[Any, Any]]:
    """What to call a method with, and of which type that is; what may be left out is, unless it carries an id."""
    parameters = inspect.signature(method).parameters
    return {
        name: (world.argument(store, name), kind)
        for name, kind in types(method).items()
        if parameters[name].default is inspect.Parameter.empty or carries_ids(kind)
    }


def methods(store: str) -> dict[str, Any]:
    """The methods of a store that take an id somewhere."""
    return {name: method for name, method in methods_of(store).items() if takes_ids(method)}


def unavailable(answer: Any) -> bool:
    """Whether it is a refusal that blames storage, as :func:`outcome` gives it."""
    kind = answer[0] if isinstance(answer, tuple) and answer else None
    return isinstance(kind, type) and issubclass(kind, Unavailable | Corrupt)


def takes_ids(method: Any) -> bool:
    return any(map(carries_ids, types(method).values()))


async def answers(storage: Storage, store: str, name: str, given: Mapping[str, Any]) -> Any:
    return await outcome(getattr(getattr(storage, store), name)(**given))


@pytest.mark.parametrize("store", NAMED)
async def test_every_id_that_a_port_takes_is_compared_whole(storage: Storage, store: str) -> None:
    model = MemoryStorage()
    world, tried = await peopled(storage), Counter[str]()
    await peopled(model)
    for name, method in methods(store).items():
        plain = {other: value for other, (value, _) in arguments(world, store, method).items()}
        for place, (value, kind) in arguments(world, store, method).items():
            for number in range(len(not_quite("job-1"))):
                for made in changed(value, kind, partial(not_quite_the, number)):
                    try:
                        given = {**plain, place: made()}
                    except InvalidField:
                        continue  # refused before any adapter is asked
                    answer = await answers(storage, store, name, given)
                    tried[name] += 1
                    assert answer == await answers(model, store, name, given), (name, given[place])
                    assert not unavailable(answer), (name, given[place])
    assert tried.keys() == methods(store).keys()


async def test_the_longest_ids_name_things(storage: Storage) -> None:
    named = ["lease", "channel", "event", "operation", "session", "machine", "job", "target", "key"]
    named += ["workspace", "turn", "message", "request"]
    longest = {kind: randbytes(LONGEST_KEY // 2).hex() for kind in [*named, "user", "repository"]}
    person = Person(id=UserId(longest["user"]), login="ada")
    repository = Repository(id=RepositoryId(longest["repository"]), owner="octo", name="notes")

    world = await peopled(storage, person, repository, **{kind: longest[kind] for kind in named})

    channel_id = ChannelId(longest["channel"])
    assert await storage.leases.holder(longest["lease"]) == world.lease
    assert await storage.users.get(person.id) is not None
    assert await storage.sessions.get(SessionId(longest["session"]), now=T0) is not None
    assert await storage.machines.chosen(person.id, channel_id) == longest["machine"]
    assert await storage.collaboration.operation(channel_id, OperationId(longest["operation"])) is not None
    assert await storage.jobs.get(channel_id, JobId(longest["job"])) is not None
    assert await storage.research.find(channel_id, longest["key"]) is not None
    assert (await storage.navigation.sidebar(person.id)).repository_id == repository.id


async def test_a_token_hash_that_no_index_could_hold_is_refused(storage: Storage) -> None:
    machine = await storage.machines.pair(pairing())

    with pytest.raises(InvalidField) as refused:
        pairing("machine-2", token_hash=b"h" * (LONGEST_KEY + 1))
    assert refused.value.field == "token_hash"
    with pytest.raises(InvalidField) as refused:
        await storage.machines.authorize(
            machine.id, owner=machine.owner, token_hash=b"h" * (LONGEST_KEY + 1), ciphertext=b"new"
        )
    assert refused.value.field == "token_hash"
    assert await storage.machines.get(machine.id) == machine
    longest = randbytes(LONGEST_KEY)
    await storage.machines.authorize(machine.id, owner=machine.owner, token_hash=longest, ciphertext=b"new")
    assert await storage.machines.find(longest) is not None
