"""Updates as a library writes them, of documents that ours may not become."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from pycrdt import Array, Doc, Map, Text, XmlFragment, XmlText

from chopin_core.engines.wire import LARGEST_CLIENT
from chopin_core.ports.documents import ROOT

from .scene import DECISION, Scene, octets
from .structures import Forge


def foreign_root(scene: Scene, random: Random) -> bytes:
    """The text's name for another type, or another name."""
    document: Doc[Any] = Doc(client_id=random.randrange(2**32))
    value = random.choice((Map({"k": "v"}), Array([1, "x"]), XmlFragment([XmlText("text")]), Text("elsewhere")))
    document["other" if isinstance(value, Text) else random.choice((ROOT, "other", "", "src\u0000"))] = value
    return document.get_update()


def more_than_text(scene: Scene, random: Random) -> bytes:
    """Formats, embedded values, nested types and documents in the text itself."""
    document: Doc[Any] = Doc(client_id=random.randrange(2**32))
    text = document.get(ROOT, type=Text)
    document.apply_update(scene.whole)
    vector = document.get_state()
    match random.randrange(4):
        case 0:
            text.insert(0, "plain")
            text.format(0, 3, {"bold": True})
        case 1:
            text.insert_embed(0, {"image": "x"})
        case 2:
            text.insert_embed(0, Text("inner"))
        case _:
            text.insert_embed(0, Map({"doc": Doc()}))
    return document.get_update(vector)


def control_characters(scene: Scene, random: Random) -> bytes:
    character = random.choice("\x00\x00\x01\x07\x08\x0b\x0c\r\x1b\x1f\x7f\x80\x85\x9f")
    return scene.typed(random, random.choice(("", "fine ")) + character + random.choice(("", " text")))


def surrogates(scene: Scene, random: Random) -> bytes:
    """Half a pair as three octets, which is no UTF-8 but what some writers make of it."""
    honest = scene.typed(random, "\ufffd\ufffd")
    half = random.choice((b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xed\xbf\xbf"))
    return honest.replace("\ufffd".encode(), half, random.randrange(1, 3))


def strange_letters(scene: Scene, random: Random) -> bytes:
    """Legal, and trouble for whoever counts wrongly: other planes, joiners, marks, the last code points."""
    return scene.typed(
        random, "".join(random.choices(("\U0010ffff", "😀", "\u200d", "\ufeff", "\u202e", "e\u0301", "\uffff", "\t"), k=6))
    )


def forged_record(scene: Scene, random: Random) -> bytes:
    """A block that only the server may write."""
    block = random.choice((DECISION, DECISION.replace("ana", "eve"), '<Research id="req-1" />'))
    at = octets(scene.text, random.choice((0, len(scene.text))))
    return scene.edited(random.randrange(1, 2**32), lambda text: text.insert(at, f"\n\n{block}\n\n"))


def broken_record(scene: Scene, random: Random) -> bytes:
    """One letter of a protected block taken out or put in, a fence around it, or its end torn off."""
    start = scene.text.find("<Decision")
    if start < 0:
        return forged_record(scene, random)
    stop = scene.text.index("</Decision>", start) + len("</Decision>")
    at = octets(scene.text, random.randrange(start, stop))
    match random.randrange(4):
        case 0:
            return scene.edited(random.randrange(1, 2**32), lambda text: text.insert(at, "x"))
        case 1:
            return scene.edited(random.randrange(1, 2**32), lambda text: text.__delitem__(slice(at, at + 1)))
        case 2:
            return scene.edited(random.randrange(1, 2**32), lambda text: text.insert(octets(scene.text, start), "```\n"))
        case _:
            first, last = octets(scene.text, stop - 3), octets(scene.text, stop)
            return scene.edited(random.randrange(1, 2**32), lambda text: text.__delitem__(slice(first, last)))


def large(scene: Scene, random: Random) -> bytes:
    return scene.typed(random, random.choice("ax中😀") * random.randrange(200, 1_200))


def second_format(scene: Scene, random: Random) -> bytes:
    """The head of an update in Yjs's version 2, which we do not speak."""
    return b"\x00\x00" + bytes([random.randrange(4), 0, 0, 0, 0, 0, 0, 0, 0, 0]) + random.choice(scene.updates)


def noise(scene: Scene, random: Random) -> bytes:
    return random.randbytes(random.choice((0, 1, 2, 3, 8, 40, 300)))


def honest(scene: Scene, random: Random) -> bytes:
    return scene.typed(random) if random.random() < 0.7 else scene.removed(random)


def honest_from_afar(scene: Scene, random: Random) -> bytes:
    """With an id that only pycrdt would give out."""
    return scene.typed(random, client=random.randrange(2**32, LARGEST_CLIENT + 1))


CONTENTS: Final[Mapping[str, Forge]] = {
    forge.__name__.replace("_", " "): forge
    for forge in (
        foreign_root,
        more_than_text,
        control_characters,
        surrogates,
        strange_letters,
        forged_record,
        broken_record,
        large,
        second_format,
        noise,
        honest,
        honest_from_afar,
    )
}
