"""The contract with browsers: Yjs opens what the engines write, and the engines what Yjs writes."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from chopin_core.document.splice import Splice
from chopin_core.engines.offsets import utf16_index
from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.wire import read_vector
from chopin_core.engines.ypy import YpyEngine
from chopin_core.errors import UpdateMalformed
from chopin_core.ports.documents import DocumentEngine

from .editing import catch_up, copy, history, written
from node.run import node

TEXTS = ["", "plain\n", "# Ti\u0301tle\n\n中文 😀 👨\u200d👩\u200d👧 🇫🇷\n", "x" * 5000]


def yjs(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = node("yjs.mjs", jobs)
    return answers


def packed(*values: bytes) -> list[str]:
    return [b64encode(value).decode() for value in values]


def test_yjs_opens_what_an_engine_writes(engine: DocumentEngine) -> None:
    documents = [written(engine, text) for text in TEXTS] + [history(engine, Random(seed))[0] for seed in range(20)]
    answers = yjs([{"apply": packed(document.update())} for document in documents])
    for document, answer in zip(documents, answers, strict=True):
        assert answer["whole"]
        assert answer["text"] == document.text
        assert read_vector(b64decode(answer["vector"])) == read_vector(document.state_vector())


def test_an_engine_opens_what_yjs_writes(engine: DocumentEngine) -> None:
    answers = yjs([{"edits": [[0, 0, text], [0, 0, "first "], [1, 3, "😀"]]} for text in TEXTS])
    for answer in answers:
        assert engine.load([b64decode(answer["update"])]).text == answer["text"]
        assert engine.load([b64decode(update) for update in answer["updates"]]).text == answer["text"]


def test_each_engine_opens_what_the_other_writes() -> None:
    engines: Sequence[DocumentEngine] = (PycrdtEngine(), YpyEngine())
    for writer, reader in (engines, engines[::-1]):
        for seed in range(20):
            document, updates = history(writer, Random(seed))
            assert reader.load([document.update()]).text == reader.load(updates).text == document.text


def test_a_browser_follows_every_update_that_is_passed_on(engine: DocumentEngine) -> None:
    # Yjs drops text, and says nothing, of an update that begins with a gap; no update we send may look like that to it.
    jobs, texts = [], []
    for seed in range(20):
        random = Random(seed)
        writers = [engine.new() for _ in range(3)]
        server = engine.new()
        sent: list[bytes] = []
        for step in range(30):
            writer = random.choice(writers)
            start = random.randrange(len(writer.text) + 1)
            writer.splice([Splice(start, min(len(writer.text), start + step % 3), random.choice(("word ", "😀", "中")))])
            if step % 3 == 0:
                sent.append(server.apply(writer.diff(server.state_vector())).update)
                catch_up(random.choice(writers), server)
            if step % 10 == 9:
                sent[-2:] = [engine.merge(sent[-2:])]
        jobs.append({"apply": packed(*filter(None, sent))})
        texts.append(server.text)
    for answer, text in zip(yjs(jobs), texts, strict=True):
        assert answer["whole"]
        assert answer["text"] == text


def test_browser_and_engine_write_at_once_and_end_in_one_text(engine: DocumentEngine) -> None:
    base = written(engine, "shared 😀 text")
    ours = copy(engine, base)
    update = ours.splice([Splice(7, 8, "中"), Splice(0, 6, "Shared")])
    edits = [[7, 2, ""], [7, 0, "their"], [0, 0, ">"]]
    (theirs,) = yjs([{"apply": packed(base.update()), "edits": edits}])
    (answer,) = yjs([{"apply": [*packed(base.update(), update), *theirs["updates"]]}])
    for update in theirs["updates"]:
        ours.apply(b64decode(update))
    assert ours.text == answer["text"]


def test_what_a_browser_makes_of_half_a_character_is_text_to_us(engine: DocumentEngine) -> None:
    (answer,) = yjs([{"edits": [[0, 0, "x\ud800y"]]}])
    assert engine.load([b64decode(answer["update"])]).text == "x\ufffdy"


def test_a_browser_that_deletes_half_a_character_is_refused(engine: DocumentEngine) -> None:
    base = written(engine, "a😀b")
    for start in (1, 2):
        (answer,) = yjs([{"apply": packed(base.update()), "edits": [[start, 1, ""]]}])
        with pytest.raises(UpdateMalformed):
            copy(engine, base).apply(b64decode(answer["updates"][0]))


def test_a_browser_with_a_gap_in_its_past_is_asked_for_the_rest(engine: DocumentEngine) -> None:
    (typing,) = yjs([{"edits": [[at, 0, letter] for at, letter in enumerate("abcd")]}])
    (gap,) = yjs([{"apply": [typing["updates"][0], typing["updates"][2]]}])
    assert not gap["whole"]
    with pytest.raises(UpdateMalformed) as refused:
        engine.new().apply(b64decode(gap["update"]))
    assert refused.value.incomplete


def test_positions_mean_the_same_to_browsers(pycrdt: PycrdtEngine) -> None:
    replica, _ = history(pycrdt, Random(5))
    replica.splice([Splice(0, 1, ""), Splice(3, 3, "😀中")])
    places = [(index, before) for index in range(len(replica.text) + 1) for before in (False, True)]
    units = [utf16_index(replica.text, index) for index, _ in places]
    ours = [pycrdt.mint(replica, index, before=before) for index, before in places]
    mint = [[unit, -1 if before else 0] for unit, (_, before) in zip(units, places, strict=True)]
    (answer,) = yjs([{"apply": packed(replica.update()), "resolve": packed(*ours), "mint": mint}])
    assert answer["resolved"] == units
    assert [pycrdt.resolve(replica, b64decode(position)) for position in answer["positions"]] == [index for index, _ in places]
