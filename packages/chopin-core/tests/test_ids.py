"""Ids are derived or minted as promised, and nothing else passes for one."""

from __future__ import annotations

import hashlib
import threading
import uuid
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chopin_core.errors import InvalidField
from chopin_core.ids import STORED_ID, RepositoryId, UuidV7, channel_id, parse_channel_id

texts = st.text(st.characters(), max_size=20)


@given(texts, texts)
def test_a_channel_id_is_a_uuid_of_version_5_and_always_the_same(repository: str, name: str) -> None:
    made = channel_id(RepositoryId(repository), name)

    parsed = uuid.UUID(made)
    assert (str(parsed), parsed.version, parsed.variant) == (made, 5, uuid.RFC_4122)
    assert channel_id(RepositoryId(repository), name) == made
    assert parse_channel_id(made) == made


def test_a_channel_id_is_the_start_of_a_digest_with_version_and_variant_set() -> None:
    digest = hashlib.sha256(b"R_1\0name").hexdigest()

    made = channel_id(RepositoryId("R_1"), "name").replace("-", "")

    assert (made[:12], made[12], made[13:16]) == (digest[:12], "5", digest[13:16])
    assert int(made[16], 16) == int(digest[16], 16) & 0b0011 | 0b1000
    assert made[17:] == digest[17:32]


def test_channel_ids_do_not_change_between_releases() -> None:
    assert channel_id(RepositoryId("R_kgDOExample"), "key-1") == "2fc2996f-e00a-59ea-b352-75fb24ef27b5"


@given(st.lists(st.tuples(texts.filter(lambda text: "\0" not in text), texts), min_size=2, max_size=2, unique=True))
def test_two_names_have_two_channel_ids(pairs: list[tuple[str, str]]) -> None:
    (one, name), (other, another) = pairs

    assert channel_id(RepositoryId(one), name) != channel_id(RepositoryId(other), another)


V4 = "123e4567-e89b-42d3-a456-426614174000"


@pytest.mark.parametrize("value", [V4, V4.replace("-42d3-", "-52d3-"), *(V4.replace("-a456-", f"-{v}456-") for v in "89b")])
def test_a_uuid_of_version_4_or_5_is_a_channel_id(value: str) -> None:
    assert parse_channel_id(value) == value


@pytest.mark.parametrize(
    "value",
    [
        V4.upper(),
        V4 + "\n",
        "\n" + V4,
        " " + V4,
        V4.replace("-", ""),
        "{" + V4 + "}",
        V4.replace("-42d3-", "-12d3-"),
        V4.replace("-42d3-", "-72d3-"),
        V4.replace("-a456-", "-c456-"),
        V4[:-1],
        V4 + "0",
        V4.replace("1", "١"),
        "12345",
        "",
        None,
        17,
        V4.encode(),
        uuid.UUID(V4),
    ],
    ids=repr,
)
def test_nothing_else_is_a_channel_id(value: Any) -> None:
    with pytest.raises(InvalidField) as caught:
        parse_channel_id(value)

    assert caught.value.field == "channel"


@given(st.from_regex(STORED_ID, fullmatch=True), st.sampled_from(["\n", "\r", " ", "\0", "\u2028", "0" * 40]))
def test_a_stored_id_is_matched_to_its_end(id: str, more: str) -> None:
    assert STORED_ID.fullmatch(id)
    assert not STORED_ID.fullmatch(id + more)
    assert not STORED_ID.fullmatch(more + id)


@pytest.mark.parametrize("id", ["0", "12345678901234567890", V4, "0190f0a0-0000-7000-8000-000000000000"])
def test_every_id_ever_minted_is_a_stored_id(id: str) -> None:
    assert STORED_ID.fullmatch(id)


@pytest.mark.parametrize("id", ["", "-1", "123456789012345678901", "١٢", V4.upper(), "a", "1.0"])
def test_nothing_else_is_a_stored_id(id: str) -> None:
    assert not STORED_ID.fullmatch(id)


@given(st.lists(st.integers(0, 2**47), min_size=1, max_size=40), st.integers(0, 2**62 - 1))
def test_minted_ids_only_grow_whatever_the_clock_does(readings: list[int], entropy: int) -> None:
    clock = iter(readings)
    mint = UuidV7(lambda: next(clock), lambda bits: entropy & (1 << bits) - 1)

    ids = [mint() for _ in readings]

    assert all(earlier < later for earlier, later in pairwise(ids))
    for id in ids:
        parsed = uuid.UUID(id)
        assert (str(parsed), parsed.version, parsed.variant) == (id, 7, uuid.RFC_4122)
        assert STORED_ID.fullmatch(id)


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**62 - 1))
def test_a_minted_id_begins_with_its_millisecond(now: int, entropy: int) -> None:
    id = UuidV7(lambda: now, lambda bits: entropy & (1 << bits) - 1)()

    assert int(id.replace("-", "")[:12], 16) == now


def test_more_ids_than_a_millisecond_has_room_for_still_grow() -> None:
    mint = UuidV7(lambda: 1_000, lambda bits: 0)

    ids = [mint() for _ in range(3 * 4096)]

    assert all(earlier < later for earlier, later in pairwise(ids))
    assert {int(id.replace("-", "")[:12], 16) for id in ids} == {1_000, 1_001, 1_002}


def test_ids_minted_by_many_threads_are_all_different() -> None:
    mint, ids = UuidV7(), []
    threads = [threading.Thread(target=lambda: ids.extend([mint() for _ in range(2_000)])) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(ids)) == len(ids) == 16_000
