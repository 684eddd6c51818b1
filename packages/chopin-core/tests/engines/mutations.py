"""Bytes that were an update once (cases.md V)."""

from __future__ import annotations

from random import Random


def mutated(update: bytes, random: Random) -> bytes:
    spoiled = bytearray(update)
    at = random.randrange(len(spoiled))
    match random.randrange(7):
        case 0:
            for _ in range(random.randrange(1, 5)):
                spoiled[random.randrange(len(spoiled))] = random.randrange(256)
        case 1:
            del spoiled[at:]
        case 2:
            at = random.randrange(min(30, len(spoiled)))
            spoiled[at:at] = b"\xff" * random.randrange(1, 12)
        case 3:
            spoiled[at] ^= 1 << random.randrange(8)
        case 4:
            spoiled[at : at + random.randrange(4)] = random.randbytes(random.randrange(4))
        case 5:
            spoiled[0:1] = b"\xff\xff\xff\xff\x0f"
        case _:
            spoiled[at] = (spoiled[at] + random.choice((1, -1))) % 256
    return bytes(spoiled)
