"""Every kind of message that is thrown at a document socket, by name: wrong JSON, wrong fields, wrong cursors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

import attrs

from chopin_core.engines.encoding import write_uint
from chopin_core.room.presence import LARGEST_AWARENESS, CursorState, encode_awareness
from chopin_web.frames.envelope import LARGEST_FRAME

from .bytewise import SPOILS

Message: TypeAlias = str | bytes | Sequence[str]
"""Text, binary, or text in several fragments."""

KNOWN = ("session:ping", "plan:open", "plan:close", "plan:update", "plan:awareness")


@attrs.frozen(kw_only=True)
class Talk:
    """What a member knows that makes its frames believable."""

    epoch: str
    update: bytes
    """An honest edit."""
    client: int = 4_242


Make = Callable[[Talk, Random], Message]


@attrs.frozen(kw_only=True)
class HostileFrame:
    kind: str
    message: Message


def believable(talk: Talk, kind: str, random: Random) -> dict[str, Any]:
    """A frame that would be taken as it is."""
    frame: dict[str, Any] = {"kind": kind, "ts": 0, "rid": f"r{random.randrange(1_000)}"}
    match kind:
        case "plan:open":
            frame |= {"epoch": talk.epoch, "vector": encoded(b"\x00")}
        case "plan:update":
            frame |= {"epoch": talk.epoch, "id": f"u{random.randrange(2**32)}", "update": encoded(talk.update)}
        case "plan:awareness":
            frame |= {"epoch": talk.epoch, "update": encoded(cursor(talk.client, random))}
    return frame


def cursor(client: int, random: Random, text: bytes = b'{"user":{"name":"eve"}}') -> bytes:
    return encode_awareness([CursorState(client_id=client, clock=random.randrange(1, 2**20), json=text)])


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _some(talk: Talk, random: Random, kinds: Sequence[str] = KNOWN) -> dict[str, Any]:
    return believable(talk, random.choice(kinds), random)


# What is no frame


def no_json(talk: Talk, random: Random) -> Message:
    return random.choice(("", " ", "{", "nul", "{'kind': 'session:ping'}", "\x00", "[1,", '{"kind":"plan:open"}}', "\ufeff{}"))


def other_json(talk: Talk, random: Random) -> Message:
    return json.dumps(
        random.choice((None, True, 0, -1.5, "session:ping", [], ["session:ping"], {}, {"kind": None}, {"kind": ["x"]}))
    )


def deep(talk: Talk, random: Random) -> Message:
    depth = random.choice((500, 5_000, 100_000))
    opening = random.choice(("[", '{"kind":', '{"a":['))
    return opening * depth + random.choice(("", "1" + "]" * depth))


def huge_number(talk: Talk, random: Random) -> Message:
    number = random.choice(("1" * 5_000, "1e999999", "-" + "9" * 100_000, "1e-999999", "NaN", "-Infinity", "0" * 50))
    return json.dumps(_some(talk, random)).replace('"ts": 0', f'"ts": {number}')


def spoiled_text(talk: Talk, random: Random) -> Message:
    text = json.dumps(_some(talk, random)).encode()
    return random.choice(list(SPOILS.values()))(text, random).decode(errors="replace")


def duplicate_keys(talk: Talk, random: Random) -> Message:
    text = json.dumps(_some(talk, random))[:-1]
    return f'{text}, "kind": {json.dumps(random.choice((*KNOWN, None, 7)))}, "epoch": "other", "rid": ["r"]}}'


def strange_text(talk: Talk, random: Random) -> Message:
    """Lone surrogates and NULs in what is echoed."""
    frame = _some(talk, random)
    for field in random.sample(sorted(frame), 1):
        if isinstance(frame[field], str):
            frame[field] += random.choice(("\ud800", "\udfff\ud83d", "\x00", "\u202e", "😀" * 40))
    return json.dumps(frame)


def unknown_kind(talk: Talk, random: Random) -> Message:
    kind = random.choice(
        ("", "plan", "plan:OPEN", "plan:open ", "session:hello", "plan:reset", "chat:send", "__class__", "x" * 10_000)
    )
    return json.dumps({**_some(talk, random), "kind": kind})


def oversized(talk: Talk, random: Random) -> Message:
    """Just inside and outside what is taken off the wire, and much more."""
    octets = random.choice((LARGEST_FRAME - 200, LARGEST_FRAME, LARGEST_FRAME + 1, 2 * LARGEST_FRAME, 3_000_000))
    return json.dumps({**believable(talk, "session:ping", random), "ts": "x" * octets})


# Frames with a wrong field


def wrong_type(talk: Talk, random: Random) -> Message:
    frame = _some(talk, random)
    field = random.choice([name for name in frame if name != "kind"])
    frame[field] = random.choice((None, True, 0, 2**70, 1.5, "", [], [1], {}, {"kind": "plan:open"}, "x" * 129, "x" * 100_000))
    return json.dumps(frame)


def missing_field(talk: Talk, random: Random) -> Message:
    frame = _some(talk, random, ("plan:update", "plan:awareness"))
    del frame[random.choice([name for name in frame if name != "kind"])]
    return json.dumps(frame)


def foreign_epoch(talk: Talk, random: Random) -> Message:
    frame = _some(talk, random, ("plan:update", "plan:awareness", "plan:open"))
    return json.dumps({**frame, "epoch": random.choice(("other", talk.epoch[:-1], talk.epoch.upper(), talk.epoch + " "))})


def bad_base64(talk: Talk, random: Random) -> Message:
    frame = _some(talk, random, ("plan:update", "plan:awareness", "plan:open"))
    field = "vector" if frame["kind"] == "plan:open" else "update"
    good = encoded(talk.update + b"\xfb\xff\xfe")
    spoiled = (good[:-1], good + "=", "=" + good, good[:4] + "\n" + good[4:], " " + good, good[:5] + "=" + good[5:], "é" + good)
    urlsafe = base64.urlsafe_b64encode(talk.update + b"\xfb\xff\xfe").decode()
    return json.dumps({**frame, field: random.choice((*spoiled, urlsafe, "!" * 64, "A", "AA", "AAA"))})


def bad_vector(talk: Talk, random: Random) -> Message:
    vector = random.choice(
        (b"", b"\xff\xff\xff\xff\x0f", b"\x01", b"\x01\x01\xff\xff\xff\xff\x7f", random.randbytes(20), b"\x00\x00")
    )
    return json.dumps({**believable(talk, "plan:open", random), "vector": encoded(vector)})


def before_or_after_closing(talk: Talk, random: Random) -> Message:
    return json.dumps(believable(talk, random.choice(("plan:close", "plan:open")), random))


# Cursors


def _awareness(talk: Talk, update: bytes, random: Random) -> Message:
    return json.dumps({**believable(talk, "plan:awareness", random), "update": encoded(update)})


def invented_cursor(talk: Talk, random: Random) -> Message:
    return _awareness(talk, cursor(random.randrange(2**53), random), random)


def crowd_of_cursors(talk: Talk, random: Random) -> Message:
    states = [CursorState(client_id=random.randrange(2**32), clock=1, json=b"{}") for _ in range(random.choice((0, 2, 1_000)))]
    return _awareness(talk, encode_awareness(states), random)


def null_cursor(talk: Talk, random: Random) -> Message:
    return _awareness(talk, cursor(random.choice((talk.client, random.randrange(2**32))), random, b"null"), random)


def huge_cursor(talk: Talk, random: Random) -> Message:
    size = random.choice((LARGEST_AWARENESS - 60, LARGEST_AWARENESS + 1, 200_000))
    return _awareness(talk, cursor(talk.client, random, b'"' + b"x" * size + b'"'), random)


def spoiled_cursor(talk: Talk, random: Random) -> Message:
    return _awareness(talk, random.choice(list(SPOILS.values()))(cursor(talk.client, random), random), random)


def cursor_with_strange_numbers(talk: Talk, random: Random) -> Message:
    client, clock = (random.choice((0, 2**53 - 1, 2**53, 2**63, 2**70)) for _ in range(2))
    text = random.choice((b"{}", b"not json", b"\xff\xfe", b"[" * 5_000))
    return _awareness(talk, b"\x01" + write_uint(client) + write_uint(clock) + write_uint(len(text)) + text, random)


# How they travel


def binary(talk: Talk, random: Random) -> Message:
    return random.choice((b"", json.dumps(_some(talk, random)).encode(), random.randbytes(300), bytes(100_000)))


def fragments(talk: Talk, random: Random) -> Message:
    text = json.dumps(_some(talk, random))
    if random.random() < 0.3:
        return ["", *text[:20], "", text[20:]]
    cut = random.randrange(len(text))
    return [text[:cut], text[cut:], random.choice(("", " ", "}"))]


MAKERS: Final[Mapping[str, Make]] = {
    make.__name__.replace("_", " "): make
    for make in (
        no_json,
        other_json,
        deep,
        huge_number,
        spoiled_text,
        duplicate_keys,
        strange_text,
        unknown_kind,
        oversized,
        wrong_type,
        missing_field,
        foreign_epoch,
        bad_base64,
        bad_vector,
        before_or_after_closing,
        invented_cursor,
        crowd_of_cursors,
        null_cursor,
        huge_cursor,
        spoiled_cursor,
        cursor_with_strange_numbers,
        binary,
        fragments,
    )
}

_RARE = {"oversized": 0.1, "deep": 0.5}
"""Megabytes each."""


def hostile_frames(talk: Callable[[], Talk], random: Random) -> Iterator[HostileFrame]:
    """Without end."""
    names = list(MAKERS)
    weights = [_RARE.get(name, 1.0) for name in names]
    while True:
        [kind] = random.choices(names, weights)
        yield HostileFrame(kind=kind, message=MAKERS[kind](talk(), random))
