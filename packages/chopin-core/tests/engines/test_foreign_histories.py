"""The contract on histories that are not ours: two beginnings, one client id used twice, characters cut in two."""

from __future__ import annotations

import pytest

from chopin_core.document.splice import Splice
from chopin_core.engines.encoding import write_update
from chopin_core.engines.wire import Id, Run, Update, read_update, read_vector
from chopin_core.engines.ypy import YpyEngine
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import DocumentEngine

from .editing import copy

CLIENT = 7


def typed(text: str, client: int = CLIENT) -> bytes:
    """A document that one client typed in one go."""
    return write_update(Update({client: [Run(0, len(text.encode("utf-16-le")) // 2, None, None, text)]}, {}))


def deletion(start: int, stop: int, client: int = CLIENT) -> bytes:
    return write_update(Update({}, {client: [(start, stop)]}))


def insertion(text: str, left: int, right: int, client: int = 9) -> bytes:
    run = Run(0, len(text), Id(CLIENT, left), Id(CLIENT, right), text)
    return write_update(Update({client: [run]}, {}))


def test_two_beginnings_are_both_kept_which_is_why_only_the_server_seeds(engine: DocumentEngine) -> None:
    replica = engine.load([typed("# Title\n", client=1)])
    replica.apply(typed("# Title\n", client=2))
    assert replica.text == "# Title\n# Title\n"


def test_another_history_of_a_known_client_is_refused(pycrdt: DocumentEngine) -> None:
    # y-py is for trusted bytes; there the second history would be taken for the first and parted from it silently.
    replica = pycrdt.load([typed("# Title\n")])
    for other in ("# Other longer\n", "# title\n", "# Titlé\n", "😀" * 4):
        with pytest.raises(UpdateMalformed) as refused:
            copy(pycrdt, replica).apply(typed(other))
        assert not refused.value.incomplete


def test_the_same_history_told_again_or_told_further_is_taken(engine: DocumentEngine) -> None:
    replica = engine.load([typed("# 😀 Title\n")])
    assert replica.apply(typed("# 😀")).update == b""
    assert replica.apply(typed("# 😀 Title\nmore")).splices == (Splice(10, 10, "more"),)
    replica.splice([Splice(2, 3, "")])
    assert replica.apply(typed("# 😀 Title\nmore")).splices == ()
    assert replica.text == "#  Title\nmore"


@pytest.mark.parametrize("cut", [deletion(1, 2), deletion(2, 3), deletion(2, 4), insertion("Z", 1, 2)])
def test_an_edit_that_cuts_a_character_in_two_is_refused(engine: DocumentEngine, cut: bytes) -> None:
    # Taken in, it would delete a neighbour or shift all clocks behind it: this library would part from the browsers for ever.
    replica = engine.load([typed("a😀b")])
    with pytest.raises(UpdateMalformed) as refused:
        replica.apply(cut)
    assert not refused.value.incomplete
    assert replica.text == "a😀b"


def test_a_difference_from_the_middle_of_a_character_is_refused(engine: DocumentEngine) -> None:
    replica = engine.load([typed("a😀b")])
    with pytest.raises(UpdateMalformed):
        replica.diff(b"\x01\x07\x02")


def test_whole_characters_go_and_come_beyond_the_basic_plane(engine: DocumentEngine) -> None:
    replica = engine.load([typed("a😀b")])
    replica.apply(insertion("Z", 2, 3))
    replica.apply(deletion(1, 3))
    assert replica.text == "aZb"


def test_replacement_characters_that_a_browser_sends_for_half_a_character_are_text(engine: DocumentEngine) -> None:
    assert engine.load([typed("x\ufffdy")]).text == "x\ufffdy"


@pytest.mark.parametrize("client", [0, 127, 2**31, 2**32 - 1])
def test_clients_keep_the_ids_that_browsers_give_them(engine: DocumentEngine, client: int) -> None:
    replica = engine.load([typed("text", client=client)])
    assert read_vector(replica.state_vector()) == {client: 4}
    assert set(read_update(replica.update()).runs) == {client}


def test_an_id_that_an_engine_would_cut_off_is_refused_by_it(pycrdt: DocumentEngine) -> None:
    update = typed("text", client=2**53 - 1)
    assert read_vector(pycrdt.load([update]).state_vector()) == {2**53 - 1: 4}
    with pytest.raises(UpdateMalformed):
        YpyEngine().load([update])


def test_replicas_type_under_ids_that_every_engine_keeps(engine: DocumentEngine) -> None:
    for _ in range(10):
        replica = engine.new()
        replica.splice([Splice(0, 0, "x")])
        assert max(read_vector(replica.state_vector())) < 2**32


def test_a_deleted_character_may_be_cut_and_all_who_know_it_agree(engine: DocumentEngine) -> None:
    # A document that was loaded holds of deleted characters only their number, so nobody may judge by more than that.
    updates = [typed("a😀b"), deletion(1, 3), insertion("x", 1, 2)]
    there = engine.load(updates[:1])
    for update in updates[1:]:
        there.apply(update)
    later = copy(engine, engine.load(updates[:2]))
    later.apply(updates[2])
    assert there.text == later.text == engine.load(updates).text == "axb"
    assert read_update(there.update()) == read_update(later.update()) == read_update(engine.load(updates).update())


def test_an_update_that_cuts_what_it_deletes_itself_is_taken_with_the_deletion_first(engine: DocumentEngine) -> None:
    # So does whoever was away arrive at what those have who saw the one after the other.
    replica = engine.load([typed("a😀b")])
    both = write_update(read_update(insertion("x", 1, 2))._replace(deleted={CLIENT: [(1, 3)]}))
    if isinstance(engine, YpyEngine):
        with pytest.raises(UpdateMalformed):
            replica.apply(both)
        return
    applied = replica.apply(both)
    assert replica.text == engine.load([typed("a😀b"), deletion(1, 3), insertion("x", 1, 2)]).text == "axb"
    assert applied.splices
    assert copy(engine, replica).text == "axb"


def test_an_update_that_cuts_what_it_deletes_only_half_of_is_refused(engine: DocumentEngine) -> None:
    replica = engine.load([typed("a😀b")])
    with pytest.raises(UpdateMalformed):
        replica.apply(write_update(read_update(insertion("x", 1, 2))._replace(deleted={CLIENT: [(2, 3)]})))
    assert replica.text == "a😀b"
