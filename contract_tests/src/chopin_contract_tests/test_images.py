"""An image is found by what its bytes hash to, and the first upload of it stays."""

from __future__ import annotations

import hashlib
from datetime import UTC, timedelta, timezone

import attrs
import pytest

from chopin_contract_tests.builders import AUTHOR, READER, T0, at, creation, image
from chopin_contract_tests.conftest import Connect
from chopin_contract_tests.races import WRITERS, race
from chopin_contract_tests.test_lists import IDS
from chopin_contract_tests.test_text import UNSTORABLE
from chopin_core.channel import Channel
from chopin_core.errors import ChannelMissing, UserMissing
from chopin_core.ids import ChannelId, UserId
from chopin_core.ports.images import LARGEST_IMAGE, ImageType
from chopin_core.ports.storage import Storage

STORE = "images"
pytestmark = pytest.mark.asyncio(loop_scope="function")


@pytest.mark.parametrize("type", ImageType)
async def test_an_image_comes_back_as_it_was_put(storage: Storage, connect: Connect, channel: Channel, type: ImageType) -> None:
    put = image(channel, type=type)

    await storage.images.put(put)

    for side in (storage, await connect()):
        assert await side.images.get(channel.id, put.sha256) == put


@pytest.mark.parametrize(
    "content", [b"\0", bytes(range(256)), b"\xff" * LARGEST_IMAGE], ids=["a zero", "every byte", "the largest"]
)
async def test_any_bytes_survive_and_are_found_by_their_hash(storage: Storage, channel: Channel, content: bytes) -> None:
    await storage.images.put(image(channel, content))

    found = await storage.images.get(channel.id, hashlib.sha256(content).hexdigest())

    assert found is not None
    assert found.content == content


async def test_the_instant_of_an_image_comes_back_in_utc(storage: Storage, channel: Channel) -> None:
    put = image(channel, created_at=at(1).astimezone(timezone(timedelta(hours=2))))
    await storage.images.put(put)

    found = await storage.images.get(channel.id, put.sha256)

    assert found is not None
    assert (found.created_at, found.created_at.tzinfo) == (at(1), UTC)


async def test_of_one_hash_in_one_channel_the_first_image_stays(storage: Storage, connect: Connect, channel: Channel) -> None:
    await storage.users.put(READER, now=T0)
    first = image(channel)
    await storage.images.put(first)

    again = image(channel, type=ImageType.GIF, uploaded_by=READER.id, created_at=at(-5))
    await (await connect()).images.put(again)

    assert again.sha256 == first.sha256
    assert await storage.images.get(channel.id, first.sha256) == first


async def test_channels_keep_their_images_apart(storage: Storage, channel: Channel) -> None:
    other = await storage.channels.create(creation("channel-2"))
    first, second = image(channel), image(other, type=ImageType.WEBP, created_at=at(1))

    await storage.images.put(first)
    assert await storage.images.get(other.id, first.sha256) is None

    await storage.images.put(second)
    assert await storage.images.get(channel.id, first.sha256) == first
    assert await storage.images.get(other.id, first.sha256) == second


async def test_an_image_that_was_never_put_is_none(storage: Storage, channel: Channel) -> None:
    put = image(channel)
    await storage.images.put(put)

    for channel_id, sha256 in (
        (ChannelId("unknown"), put.sha256),
        (channel.id, "0" * 64),
        (channel.id, put.sha256.upper()),
        (channel.id, ""),
    ):
        assert await storage.images.get(channel_id, sha256) is None


async def test_a_channel_is_missing_before_its_uploader_and_nothing_is_kept(storage: Storage, channel: Channel) -> None:
    unknown, nobody = ChannelId("unknown"), UserId("nobody")

    for uploader in (AUTHOR.id, nobody):
        with pytest.raises(ChannelMissing) as channel_missing:
            await storage.images.put(image(channel, channel_id=unknown, uploaded_by=uploader))
        assert channel_missing.value.channel_id == unknown
    with pytest.raises(UserMissing) as user_missing:
        await storage.images.put(image(channel, uploaded_by=nobody))
    assert user_missing.value.user_id == nobody

    assert await storage.images.channels(image(channel).sha256) == ()


async def test_an_unknown_uploader_is_told_also_of_an_image_that_is_there(storage: Storage, channel: Channel) -> None:
    await storage.images.put(image(channel))

    with pytest.raises(UserMissing):
        await storage.images.put(image(channel, uploaded_by=UserId("nobody")))


async def test_an_archived_channel_takes_and_shows_images(storage: Storage, channel: Channel) -> None:
    before = image(channel)
    await storage.images.put(before)
    archived = (await storage.channels.archive(channel.id, now=at(1))).channel
    after = image(channel, b"more")

    await storage.images.put(after)

    assert await storage.images.get(channel.id, before.sha256) == before
    assert await storage.images.get(channel.id, after.sha256) == after
    assert await storage.images.channels(after.sha256) == (channel.id,)
    assert await storage.channels.get(channel.id) == archived


async def test_an_image_does_not_move_its_channel(storage: Storage, channel: Channel) -> None:
    await storage.images.put(image(channel, created_at=at(5)))

    assert await storage.channels.get(channel.id) == channel


async def test_the_channels_of_an_image_come_with_the_earliest_upload_first(storage: Storage) -> None:
    for id, seconds in (("a", 2), ("b", 1), ("c", 3)):
        await storage.images.put(image(await storage.channels.create(creation(id)), created_at=at(seconds)))
        await storage.images.put(image(await storage.channels.create(creation(f"other {id}")), b"other"))

    sha256 = hashlib.sha256(b"pixels").hexdigest()
    assert await storage.images.channels(sha256) == ("b", "a", "c")
    assert await storage.images.channels("0" * 64) == ()


async def test_channels_of_one_instant_come_in_code_point_order(storage: Storage) -> None:
    for id in reversed(IDS):
        await storage.images.put(image(await storage.channels.create(creation(id))))

    assert list(await storage.images.channels(hashlib.sha256(b"pixels").hexdigest())) == IDS


async def test_of_eight_that_put_one_image_one_is_kept(sides: list[Storage], channel: Channel) -> None:
    put = [image(channel, created_at=at(number)) for number in range(WRITERS)]

    raced = await race(*(side.images.put(one) for side, one in zip(sides, put, strict=True)))

    assert not raced.refused
    assert await sides[0].images.get(channel.id, put[0].sha256) in put
    assert await sides[0].images.channels(put[0].sha256) == (channel.id,)


@pytest.mark.parametrize("text", UNSTORABLE.values(), ids=UNSTORABLE.keys())
async def test_what_no_column_could_name_is_missing_or_never_found(storage: Storage, channel: Channel, text: str) -> None:
    put = image(channel)
    await storage.images.put(put)

    with pytest.raises(ChannelMissing):
        await storage.images.put(attrs.evolve(put, channel_id=ChannelId(text)))
    with pytest.raises(UserMissing):
        await storage.images.put(attrs.evolve(put, uploaded_by=UserId(text)))
    assert await storage.images.get(ChannelId(text), put.sha256) is None
    assert await storage.images.get(channel.id, text) is None
    assert await storage.images.channels(text) == ()
