"""What agents and shells may rely on when they ask about documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from chopin_core.agent_requests import AgentClient, Brief, CreateDocument, UpdateDocument
from chopin_core.counters import Epoch, PlanRevision
from chopin_core.document.canonical import canonical, source_hash
from chopin_core.document.splice import Splice
from chopin_core.documents import Written
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.errors import (
    ChannelArchived,
    ChannelMissing,
    IdempotencyConflict,
    InvalidField,
    ProjectionProtected,
    SourceRefused,
    StalePlan,
    TitleTaken,
)
from chopin_core.ids import ChannelId, RepositoryId, UserId, channel_id
from chopin_core.memory.storage import MemoryStorage
from chopin_core.people import Person, Repository
from chopin_core.ports.channels import ChannelCreate, Initial
from chopin_core.ports.pruning import Pruning
from chopin_core.running import Chopin, running
from chopin_core.sidecar import Sidecar

from room.house import Listener

REPOSITORY = Repository(id=RepositoryId("R_1"), owner="ada", name="engine")
ADA = Person(id=UserId("local:ada"), login="ada")
BRIEF = Brief(goal="Explain the engine", constraints=("short",), open_questions=("why?",))
CREATION = CreateDocument(
    idempotency_key="key-1",
    repository=REPOSITORY,
    base_branch="main",
    base_commit="abc",
    title="Engine notes",
    brief=BRIEF,
    source="# Engine\n\nIt turns.\n",
    by=ADA,
)
BLOCK = (
    '<Decision id="01890a5d-ac96-774b-bcce-b302099a8057" quote="q" by="ada" at="now">\n'
    '<Note by="ada" text="yes" />\n'
    "</Decision>\n"
)


def changed(request: CreateDocument, **fields: Any) -> CreateDocument:
    return attrs.evolve(request, **fields)


@pytest.fixture
async def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
async def chopin(storage: MemoryStorage) -> AsyncIterator[Chopin]:
    async with running(storage, PycrdtEngine(), owner="test") as started:
        yield started


def update(written: Written, source: str, key: str = "update-1") -> UpdateDocument:
    return UpdateDocument(
        channel_id=written.channel.id,
        revision=written.revision,
        source=source,
        idempotency_key=key,
        by=ADA,
        client=AgentClient(name="robot", version="1"),
    )


async def test_a_created_document_can_be_read_at_revision_zero(chopin: Chopin) -> None:
    made = await chopin.documents.create(CREATION)
    assert (made.source, made.revision, made.brief) == (CREATION.source, 0, BRIEF)
    assert made.channel.slug == "engine-notes"
    assert await chopin.documents.read(made.channel.id) == made


async def test_the_same_request_again_is_the_same_document_also_after_a_restart_and_an_edit(
    chopin: Chopin, storage: MemoryStorage
) -> None:
    made = await chopin.documents.create(CREATION)
    edited = await chopin.documents.update(update(made, "# Changed\n"))
    again = await chopin.documents.create(CREATION)
    assert again.channel.id == made.channel.id
    assert (again.source, again.revision) == (edited.source, 1)


async def test_twenty_requests_at_once_make_one_document(chopin: Chopin) -> None:
    made = await asyncio.gather(*(chopin.documents.create(CREATION) for _ in range(20)))
    assert len({written.channel.id for written in made}) == 1
    assert len((await chopin.documents.list(REPOSITORY.id)).channels) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"source": "# Other\n"},
        {"title": "Other"},
        {"base_commit": "def"},
        {"base_branch": "dev"},
        {"brief": attrs.evolve(BRIEF, goal="Other")},
        {"brief": attrs.evolve(BRIEF, settled_decisions=("x",))},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_a_key_belongs_to_one_request(chopin: Chopin, change: dict[str, Any]) -> None:
    await chopin.documents.create(CREATION)
    with pytest.raises(IdempotencyConflict):
        await chopin.documents.create(attrs.evolve(CREATION, **change))


async def test_a_request_is_the_same_after_its_repository_was_renamed(chopin: Chopin) -> None:
    made = await chopin.documents.create(CREATION)
    renamed = attrs.evolve(REPOSITORY, owner="ben", name="motor")
    assert (await chopin.documents.create(attrs.evolve(CREATION, repository=renamed))).channel.id == made.channel.id


async def test_keys_are_separate_for_each_repository(chopin: Chopin) -> None:
    elsewhere = attrs.evolve(REPOSITORY, id=RepositoryId("R_2"))
    one = await chopin.documents.create(CREATION)
    other = await chopin.documents.create(attrs.evolve(CREATION, repository=elsewhere))
    assert one.channel.id != other.channel.id


async def test_a_title_that_is_taken_is_refused_and_leaves_nothing(chopin: Chopin) -> None:
    await chopin.documents.create(CREATION)
    with pytest.raises(TitleTaken):
        await chopin.documents.create(attrs.evolve(CREATION, idempotency_key="key-2", title="ENGINE NOTES"))
    assert len((await chopin.documents.list(REPOSITORY.id)).channels) == 1


@pytest.mark.parametrize(
    "source",
    ["<script>x</script>\n", "{secret}\n", "import x from 'y'\n\ntext\n", "[a](javascript:x)\n", BLOCK],
)
async def test_a_source_with_issues_is_refused_whole(chopin: Chopin, source: str) -> None:
    with pytest.raises((SourceRefused, ProjectionProtected)):
        await chopin.documents.create(attrs.evolve(CREATION, source=source))
    assert not (await chopin.documents.list(REPOSITORY.id)).channels
    made = await chopin.documents.create(CREATION)
    with pytest.raises((SourceRefused, ProjectionProtected)):
        await chopin.documents.update(update(made, source))
    assert await chopin.documents.read(made.channel.id) == made


@pytest.mark.parametrize("field", ["source", "title", "idempotency_key"])
@pytest.mark.parametrize("text", ["a\0b", "\ud800"], ids=ascii)
async def test_text_that_no_storage_can_keep_is_refused_before_any_is_asked(chopin: Chopin, field: str, text: str) -> None:
    with pytest.raises(InvalidField):
        await chopin.documents.create(changed(CREATION, **{field: text}))


async def test_an_update_at_the_right_revision_is_kept_and_counted(chopin: Chopin, storage: MemoryStorage) -> None:
    made = await chopin.documents.create(CREATION)
    after = await chopin.documents.update(update(made, "# Engine\r\n\r\nIt *turns*.\r\n"))
    assert (after.source, after.revision) == ("# Engine\n\nIt *turns*.\n", 1)
    await chopin.rooms.close()


async def test_one_of_many_agents_on_one_revision_wins_and_the_others_learn_the_current_one(chopin: Chopin) -> None:
    made = await chopin.documents.create(CREATION)
    outcomes = await asyncio.gather(
        *(chopin.documents.update(update(made, f"# {number}\n", key=f"k{number}")) for number in range(8)),
        return_exceptions=True,
    )
    won = [outcome for outcome in outcomes if isinstance(outcome, Written)]
    lost = [outcome for outcome in outcomes if isinstance(outcome, StalePlan)]
    assert (len(won), len(lost)) == (1, 7)
    assert {(stale.expected, stale.actual) for stale in lost} == {(0, 1)}
    assert (await chopin.documents.read(made.channel.id)).source == won[0].source


async def test_an_update_that_is_sent_again_gets_its_first_answer_whatever_happened_since(
    chopin: Chopin, storage: MemoryStorage
) -> None:
    made = await chopin.documents.create(CREATION)
    request = update(made, "# First\n")
    first = await chopin.documents.update(request)
    await chopin.documents.update(update(first, "# Second\n", key="update-2"))
    await chopin.documents.rename(made.channel.id, "Renamed")
    again = await chopin.documents.update(request)
    assert (again.source, again.revision, again.channel.title) == ("# First\n", 1, "Engine notes")
    assert (await chopin.documents.read(made.channel.id)).source == "# Second\n"
    with pytest.raises(IdempotencyConflict):
        await chopin.documents.update(attrs.evolve(request, source="# Third\n"))


async def test_an_update_keeps_what_others_are_writing_elsewhere_in_the_text(chopin: Chopin) -> None:
    made = await chopin.documents.create(attrs.evolve(CREATION, source="# A\n\none\n\ntwo\n\nthree\n"))
    async with chopin.rooms.hold(made.channel.id) as room:
        reader, engine = Listener("reader"), PycrdtEngine()
        reader.enter(room)
        caret = engine.mint(reader.replica, reader.replica.text.index("three"))
        await chopin.documents.update(update(made, "# A\n\nONE and more\n\ntwo\n\nthree\n"))
        assert reader.replica.text[engine.resolve(reader.replica, caret) :] == "three\n"


async def test_an_update_may_move_a_protected_block_but_not_change_it(chopin: Chopin, storage: MemoryStorage) -> None:
    # As a record will put it there, past the checks that people and agents meet.
    text = f"# Engine\n\n{BLOCK}"
    replica = PycrdtEngine().new()
    replica.splice([Splice(0, 0, text)])
    await storage.users.put(ADA, now=datetime.now(UTC))
    channel = await storage.channels.create(
        ChannelCreate(
            id=channel_id(REPOSITORY.id, "recorded"),
            repository=REPOSITORY,
            title="Recorded",
            created_by=ADA.id,
            now=datetime.now(UTC),
            initial=Initial(
                generation="1",
                epoch=Epoch("1"),
                source=canonical(text),
                source_hash=source_hash(canonical(text)),
                document=replica.update(),
                sidecar=Sidecar().record(),
            ),
        )
    )
    now = await chopin.documents.read(channel.id)
    with pytest.raises(ProjectionProtected):
        await chopin.documents.update(update(now, now.source.replace('text="yes"', 'text="no"'), key="a"))
    with pytest.raises(ProjectionProtected):
        await chopin.documents.update(update(now, "# Engine\n", key="b"))
    moved = await chopin.documents.update(update(now, BLOCK + "\n# Engine\n", key="c"))
    assert moved.source == BLOCK + "\n# Engine\n"


async def test_an_archived_document_is_read_but_not_changed(chopin: Chopin, storage: MemoryStorage) -> None:
    made = await chopin.documents.create(CREATION)
    request = update(made, "# Kept\n")
    kept = await chopin.documents.update(request)
    await asyncio.sleep(0)
    await chopin.rooms.close()
    async with running(storage, PycrdtEngine(), owner="test") as later:
        await storage.channels.archive(made.channel.id, now=made.channel.created_at)
        assert (await later.documents.read(made.channel.id)).source == "# Kept\n"
        assert (await later.documents.update(request)).source == kept.source
        for key in ("other", "another"):
            with pytest.raises(ChannelArchived):
                await later.documents.update(update(kept, "# No\n", key=key))
        with pytest.raises(ChannelArchived):
            await later.documents.rename(made.channel.id, "No")


async def test_an_agents_keys_are_known_for_the_life_of_a_document_though_its_operations_were_forgotten(
    chopin: Chopin, storage: MemoryStorage
) -> None:
    made = await chopin.documents.create(CREATION)
    request = update(made, "# Kept\n")
    kept = await chopin.documents.update(request)
    await chopin.documents.update(update(kept, "# Later\n", key="update-2"))

    async def answers(chopin: Chopin) -> list[tuple[str, str, int]]:
        again = [await chopin.documents.create(CREATION), await chopin.documents.update(request)]
        return [(written.channel.id, written.source, written.revision) for written in again]

    before = await answers(chopin)
    lease = await storage.leases.acquire("sweeper", "test", timedelta(minutes=1))
    assert lease is not None
    pruned = await storage.collaboration.prune(Pruning(older_than=timedelta(0), limit=100), lease=lease)
    assert pruned.operations == 2

    assert await answers(chopin) == before
    with pytest.raises(IdempotencyConflict):
        await chopin.documents.update(attrs.evolve(request, source="# Other\n"))
    await chopin.sweeper.close()
    await chopin.rooms.close()
    async with running(storage, PycrdtEngine(), owner="test") as later:
        assert await answers(later) == before


async def test_what_is_not_there_is_missing(chopin: Chopin) -> None:
    nowhere = ChannelId("00000000-0000-4000-8000-000000000000")
    with pytest.raises(ChannelMissing):
        await chopin.documents.read(nowhere)
    with pytest.raises(ChannelMissing):
        await chopin.documents.rename(nowhere, "x")
    request = UpdateDocument(channel_id=nowhere, revision=PlanRevision(0), source="", idempotency_key="k", by=ADA)
    with pytest.raises(ChannelMissing):
        await chopin.documents.update(request)
    assert await chopin.documents.get(nowhere) is None


async def test_an_old_address_finds_a_renamed_document(chopin: Chopin) -> None:
    made = await chopin.documents.create_blank(REPOSITORY, "First", by=ADA)
    await chopin.documents.rename(made.id, "Second")
    for address in ("first", "FIRST", "First", "second"):
        found = await chopin.documents.resolve(REPOSITORY.id, address)
        assert found is not None
        assert (found.id, found.slug) == (made.id, "second")


async def test_nameless_documents_get_names_that_differ(chopin: Chopin) -> None:
    made = [await chopin.documents.create_blank(REPOSITORY, None, by=ADA) for _ in range(30)]
    assert len({channel.title for channel in made}) == 30


async def test_names_are_found_even_when_every_pair_of_words_is_taken(chopin: Chopin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chopin_core.documents.placeholder_title", lambda: "same-pair")
    made = [await chopin.documents.create_blank(REPOSITORY, None, by=ADA) for _ in range(3)]
    assert len({channel.title for channel in made}) == 3
    assert all(channel.title.startswith("same-pair") for channel in made)
