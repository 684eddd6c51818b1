"""Whatever is done to them in whatever order, the adapter and the memory adapter answer alike, refusals included."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from chopin_contract_tests.adapters import Databases
from chopin_contract_tests.builders import (
    AUTHOR,
    ELSEWHERE,
    REPOSITORY,
    T0,
    checkpoint,
    commit,
    creation,
    event,
    initial,
    question,
    replacement,
    sidecar,
)
from chopin_contract_tests.sweeps import NOTHING, swept
from chopin_contract_tests.twins import HOUR, Twins, sides
from chopin_core.channel import TitlePolicy
from chopin_core.counters import StorageRevision, StorageSequence
from chopin_core.ids import ChannelId, OperationId, RepositoryId
from chopin_core.ports.channels import ChannelCreate, Cursor, Page
from chopin_core.ports.collaboration import StoredChannel, TitleChange
from chopin_core.ports.leases import WRITER
from chopin_core.ports.storage import Storage
from chopin_core.sidecar import SidecarPatch

ids = st.sampled_from(["a", "é", "é", "😀", "😀", "_", "_"])
"""Of channels to be created; ``a`` exists from the start, as ``B`` does."""

known_or_not = st.sampled_from([ChannelId(id) for id in ("a", "a", "a", "a", "a", "a", "B", "B", "é", "😀", "_", "unknown")])
repositories = st.sampled_from([REPOSITORY.id, REPOSITORY.id, ELSEWHERE.id])
titles = st.sampled_from(["Plan", "plan", "PLAN!", "Plan 2", "Other", "İ 😀", "ΣΑΣ", ""])
policies = st.sampled_from(TitlePolicy)
slugs = st.sampled_from(["plan", "plan-2", "plan-3", "plan-2-2", "other", "document", "i\u0307", "σας", "nowhere"])
queries = st.sampled_from(["", "", "plan", "N 2", "!", "i\u0307", "😀", "%", "σ"])
operations = st.sampled_from([OperationId(f"operation {number}") for number in range(12)])
instants = st.integers(-2_000, 6_000).map(lambda moved: T0 + timedelta(microseconds=moved))

drifts = st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1])
"""How far off a writer's idea of a counter is; mostly it is right."""

held = st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1, 2, 3])
"""Which of the leases ever granted a writer uses; mostly the first, which is never let go of."""

values = st.sampled_from(["", "\0\ud800", [1, None], {"k": {}}, {"z": 1, "a": [2.5]}])
records = st.one_of(
    st.builds(lambda number, value: sidecar(number, graph=value), st.integers(0, 9), values),
    st.builds(
        lambda number, asked: sidecar(number, questions=[question(questions=asked)]), st.integers(0, 9), st.integers(0, 3)
    ),
)
patches = st.builds(
    lambda record, removed: SidecarPatch(head=record.head, sections=record.sections, removed=removed),
    records,
    st.frozensets(st.sampled_from(["graph", "questions", "never"])),
)
creations = st.builds(
    creation,
    ids,
    repository=st.sampled_from([REPOSITORY, REPOSITORY, ELSEWHERE]),
    title=titles,
    titles=policies,
    parent_id=st.one_of(st.none(), st.none(), known_or_not),
    created_by=st.sampled_from([AUTHOR.id] * 5 + ["nobody"]),
    now=instants,
    initial=st.none() | st.just(initial()),
)
commits = st.fixed_dictionaries(
    {"operation_id": operations, "now": instants, "sidecar": st.none() | records | patches},
    optional={
        "update": st.binary(max_size=3),
        "events": st.lists(
            st.builds(lambda id, payload: event(f"event {id}", payload=payload), st.integers(0, 30), values), max_size=2
        ).map(tuple),
        "title": st.builds(TitleChange, title=titles, titles=policies),
    },
).map(lambda changes: changes if len(changes) > 3 else {**changes, "allow_archived": True})
replacements = st.fixed_dictionaries({"operation_id": operations, "now": instants, "sidecar": records})


async def loaded(id: ChannelId, storage: Storage) -> StoredChannel | None:
    return await storage.collaboration.load(id)


class ChannelTwins(Twins):
    """The history of channels and of the leases under which they are written."""

    def written(self, side: int, id: ChannelId, call: Callable[[Storage], Awaitable[Any]]) -> None:
        """A write to a channel, and what both have of the channel then, read from the other side."""
        self.told(side, call)
        self.told(1 - side, lambda storage: storage.collaboration.load(id))

    @rule(side=sides, made=creations)
    def create(self, side: int, made: ChannelCreate) -> None:
        self.written(side, made.id, lambda storage: storage.channels.create(made))

    @rule(side=sides, id=known_or_not, title=titles, policy=policies, now=instants)
    def rename(self, side: int, id: ChannelId, title: str, policy: TitlePolicy, now: datetime) -> None:
        self.written(side, id, lambda storage: storage.channels.rename(id, title, now=now, titles=policy))

    @rule(side=sides, id=known_or_not, away=st.booleans(), now=instants)
    def put_away(self, side: int, id: ChannelId, away: bool, now: datetime) -> None:
        if away:
            self.written(side, id, lambda storage: storage.channels.archive(id, now=now))
        else:
            self.written(side, id, lambda storage: storage.channels.restore(id, now=now))

    @rule(side=sides, id=known_or_not, drift=drifts, changes=commits, held=held)
    def commit(self, side: int, id: ChannelId, drift: int, changes: dict[str, Any], held: int) -> None:
        channel, lease = self.near(id).channel, self.lease(held)
        made = commit(channel, channel_id=id, expected=StorageRevision(channel.revision + drift), **changes)
        self.written(side, id, lambda storage: storage.collaboration.commit(made, lease=lease))
        self.told(side, lambda storage: storage.collaboration.operation(id, made.operation_id))

    @rule(side=sides, id=known_or_not, drift=drifts, changes=replacements, held=held)
    def replace(self, side: int, id: ChannelId, drift: int, changes: dict[str, Any], held: int) -> None:
        channel, lease = self.near(id).channel, self.lease(held)
        made = replacement(channel, channel_id=id, expected=StorageRevision(channel.revision + drift), **changes)
        self.written(side, id, lambda storage: storage.collaboration.replace(made, lease=lease))
        self.told(side, lambda storage: storage.collaboration.operation(id, made.operation_id))

    @rule(side=sides, id=known_or_not, drift=drifts, back=st.sampled_from([0, 0, 0, 1, 2, -1]), now=instants, held=held)
    def checkpoint(self, side: int, id: ChannelId, drift: int, back: int, now: datetime, held: int) -> None:
        stored, lease = self.near(id), self.lease(held)
        made = checkpoint(
            stored,
            channel_id=id,
            revision=StorageRevision(stored.channel.revision + drift),
            through=StorageSequence(max(0, stored.latest - back)),
            now=now,
        )
        self.written(side, id, lambda storage: storage.collaboration.checkpoint(made, lease=lease))

    @rule(side=sides, window=st.sampled_from([NOTHING, NOTHING, 24 * HOUR]), limit=st.integers(1, 4), held=held)
    def sweep(self, side: int, window: timedelta, limit: int, held: int) -> None:
        lease = self.lease(held)
        self.told(side, lambda storage: swept(storage, lease, window, limit=limit))
        for id in (ChannelId("a"), ChannelId("B")):
            self.told(1 - side, partial(loaded, id))

    @rule(side=sides, repository=repositories, limit=st.integers(0, 3), query=queries, slug=slugs, archived=st.booleans())
    def look(self, side: int, repository: RepositoryId, limit: int, query: str, slug: str, archived: bool) -> None:
        given: dict[str, Any] = {"limit": limit, "include_archived": archived}
        self.told(side, lambda storage: storage.channels.resolve(repository, slug))
        self.walk(side, lambda after: lambda storage: storage.channels.scan(repository, after=after, **given))
        self.walk(side, lambda after: lambda storage: storage.channels.list(repository, after=after, query=query, **given))

    def walk(self, side: int, turn: Callable[[Cursor | None], Callable[[Storage], Awaitable[Page]]]) -> None:
        """Page after page, to the end."""
        page: Page = self.told(side, turn(None))
        while page.next is not None:
            page = self.told(side, turn(page.next))

    @rule(side=sides, name=st.sampled_from([WRITER, WRITER, "other"]), owner=st.sampled_from(["begin", "ada", "grace"]))
    def acquire(self, side: int, name: str, owner: str) -> None:
        self.granted(side, name, owner)

    @rule(side=sides, choice=st.sampled_from([-1, -1, -1, 1, 2]), kept=st.booleans())
    def renew_or_release(self, side: int, choice: int, kept: bool) -> None:
        lease = self.lease(choice)
        if kept:
            self.told(side, lambda storage: storage.leases.renew(lease, HOUR))
        else:
            self.told(side, lambda storage: storage.leases.release(lease))
        self.told(1 - side, lambda storage: storage.leases.holder(lease.name))


def test_the_adapter_and_the_model_agree_on_any_history(adapter: Databases) -> None:
    class Here(ChannelTwins):
        databases = adapter

    run_state_machine_as_test(
        Here,
        settings=settings(  # Hypothesis' own profile for CI makes these the same histories every time
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
