"""Bytes from anywhere. Only on pycrdt: y-py would end the process at some of them (architecture §4), so it never meets them."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import Any

import pytest
from pycrdt import Array, Doc, Map, Text, XmlFragment, XmlText

from chopin_core.document.splice import Splice
from chopin_core.engines import panics
from chopin_core.engines.encoding import write_update
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import Id, Run, Update, read_vector
from chopin_core.errors import UpdateMalformed

from .editing import copy, history, written
from .mutations import mutated


def test_the_third_of_four_updates_is_not_lost_in_silence(pycrdt: PycrdtEngine) -> None:
    # The library would answer nothing, keep the third aside, and leave it out of everything it stores.
    document: Doc[Text] = Doc(client_id=7)
    text = document.get("source", type=Text)
    updates: list[bytes] = []
    document.observe(lambda event: updates.append(event.update))
    for at, letter in enumerate("abcd"):
        text.insert(at, letter)
    replica = pycrdt.new()
    with pytest.raises(UpdateMalformed) as refused:
        replica.apply(updates[2])
    assert refused.value.incomplete
    assert replica.update() == b"\x00\x00"
    for update in updates:
        replica.apply(update)
    assert replica.text == "abcd"


def test_two_edits_that_wait_for_each_other_are_refused(pycrdt: PycrdtEngine) -> None:
    circle = write_update(Update({1: [Run(0, 1, Id(2, 0), None, "a")], 2: [Run(0, 1, Id(1, 0), None, "b")]}, {}))
    for refuse in (pycrdt.new().apply, lambda update: pycrdt.load([update])):
        with pytest.raises(UpdateMalformed) as refused:
            refuse(circle)
        assert refused.value.incomplete


def test_what_stands_between_a_character_and_itself_is_refused(pycrdt: PycrdtEngine) -> None:
    # Where the library puts it depends on the order in which a replica took everything in, so a reload would move it.
    replica = pycrdt.load([write_update(Update({7: [Run(0, 4, None, None, "text")]}, {}))])
    with pytest.raises(UpdateMalformed):
        replica.apply(write_update(Update({9: [Run(0, 1, Id(7, 1), Id(7, 1), "x")]}, {})))
    assert replica.text == "text"


def test_only_bytes_that_the_library_met_cost_a_replica(pycrdt: PycrdtEngine) -> None:
    # To load another one costs what the document is long, and whoever sends nonsense could have it done over and over.
    replica = written(pycrdt, "text")
    for nonsense in (b"", b"\xff" * 9, write_update(Update({1: [Run(3, 1, None, None, "late")]}, {}))):
        with pytest.raises(UpdateMalformed):
            replica.apply(nonsense)
        assert replica.intact
    circle = write_update(Update({1: [Run(0, 1, Id(2, 0), None, "a")], 2: [Run(0, 1, Id(1, 0), None, "b")]}, {}))
    with pytest.raises(UpdateMalformed):
        replica.apply(circle)
    assert not replica.intact


@pytest.mark.parametrize("run", [4, 8, 20])
def test_a_run_of_ones_in_the_head_of_an_update_is_refused_and_leaves_the_text(pycrdt: PycrdtEngine, run: int) -> None:
    # The library would panic at some of these after it had changed the text, and at valid updates from then on.
    update = b"\x01\x01\xb9\x82\xea\xf4\x0f\x00\x04\x01\x06source\x0f# Title \xf0\x9f\x98\x80 \n\n\x00"
    replica = pycrdt.load([update])
    for at in range(len(update)):
        with pytest.raises(UpdateMalformed):
            replica.apply(update[:at] + b"\xff" * run + update[at:])
        assert replica.text == "# Title 😀 \n\n"
    assert copy(pycrdt, replica).text == replica.text
    assert replica.splice([Splice(0, 0, "still ")])
    assert copy(pycrdt, replica).text == "still # Title 😀 \n\n"


def test_a_panic_of_the_library_is_a_refusal() -> None:
    document: Doc[Text] = Doc()
    text = document.get("source", type=Text)
    with pytest.raises(UpdateMalformed), panics.refused():
        del text[0:5]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, asyncio.CancelledError, SystemExit, ZeroDivisionError])
def test_an_interrupt_is_no_refusal(fault: type[BaseException]) -> None:
    with pytest.raises(fault), panics.refused():
        raise fault


def foreign() -> dict[str, bytes]:
    """Documents that a client with another schema, or a hostile one, could write."""
    made: dict[str, bytes] = {}
    for place in ("source", "other"):
        for make in (lambda: Map({"k": "v"}), lambda: Array([1, "x"]), lambda: XmlFragment([XmlText("text")])):
            document: Doc[Any] = Doc()
            document[place] = root = make()
            made[f"{type(root).__name__} at {place}"] = document.get_update()
    for name in ("elsewhere", "format", "embed", "nested"):
        document = Doc()
        document["other" if name == "elsewhere" else "source"] = text = Text("plain")
        match name:
            case "format":
                text.format(1, 3, {"bold": True})
            case "embed":
                text.insert_embed(2, {"image": "x"})
            case "nested":
                text.insert_embed(2, Text("inner"))
        made[name] = document.get_update()
    return made


FOREIGN = foreign()


@pytest.mark.parametrize("update", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_document_holds_one_plain_text_and_nothing_else(pycrdt: PycrdtEngine, update: bytes) -> None:
    replica = written(pycrdt, "text")
    with pytest.raises(UpdateMalformed) as refused:
        replica.apply(update)
    assert not refused.value.incomplete
    with pytest.raises(UpdateMalformed):
        pycrdt.load([update])
    assert replica.text == "text"


@pytest.mark.parametrize(("left", "right"), [(8, 3), (5, 5), (9, 0)])
@pytest.mark.parametrize("cut", [False, True], ids=["in one run", "with something typed between"])
def test_something_behind_a_character_and_before_an_earlier_one_is_refused(
    pycrdt: PycrdtEngine, left: int, right: int, cut: bool
) -> None:
    # The library would place it here or there, depending on where its runs are cut, and so say two things of one document.
    replica = written(pycrdt, "0123456789")
    [client] = read_vector(replica.state_vector())
    if cut:
        replica.apply(copy(pycrdt, replica).splice([Splice(5, 5, "-")]))
    text = replica.text
    with pytest.raises(UpdateMalformed):
        replica.apply(write_update(Update({client + 1: [Run(0, 1, Id(client, left), Id(client, right), "x")]}, {})))
    assert copy(pycrdt, replica).text == replica.text == text


def test_something_between_characters_that_were_typed_backwards_is_taken(pycrdt: PycrdtEngine) -> None:
    replica = pycrdt.new()
    for letter in "cba":
        replica.splice([Splice(0, 0, letter)])
    other = copy(pycrdt, replica)
    replica.apply(other.splice([Splice(1, 1, "-"), Splice(3, 3, "-")]))
    assert replica.text == "a-b-c"


def test_three_thousand_spoiled_updates_are_refused_or_kept_whole(pycrdt: PycrdtEngine) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(15):
        random = Random(seed)
        source, updates = history(pycrdt, random)
        whole = source.update()
        for _ in range(200):
            replica = pycrdt.load([whole])
            try:
                replica.apply(mutated(random.choice((whole, *updates)), random))
                outcomes["taken"] += 1
            except UpdateMalformed as refused:
                outcomes["incomplete" if refused.incomplete else "malformed"] += 1
                assert (replica.text, read_vector(replica.state_vector())) == (source.text, read_vector(source.state_vector()))
            again = copy(pycrdt, replica)
            assert again.text == replica.text
            assert read_vector(again.state_vector()) == read_vector(replica.state_vector())
    assert min(outcomes["taken"], outcomes["incomplete"], outcomes["malformed"]) > 20
