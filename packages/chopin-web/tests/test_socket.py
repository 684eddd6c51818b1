"""The document socket: who gets in, what is said, and how it ends; on each server we know."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import random
import socket

import pytest

from chopin_core.document.splice import Splice
from chopin_core.people import Role
from chopin_core.room.limits import LARGEST_UPDATE
from chopin_web import admission, outbox
from chopin_web import socket as document_socket
from chopin_web.close_codes import CloseCode
from chopin_web.conversation import Conversation
from chopin_web.testing.browser import Browser

from shell_site import ENGINE, Site

UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def test_two_people_see_each_other_and_each_others_edits(any_site: Site) -> None:
    channel = await any_site.document()
    async with any_site.browser("ada", channel) as ada, any_site.browser("ben", channel) as ben:
        assert [member["handle"] for member in (await ada.next("session:presence"))["members"]] == ["ada", "ben"]
        opened = await ada.open()
        assert opened["limits"] == {"source": 262_144, "update": 524_288, "depth": 20}
        await ben.open()
        rid = await ada.type_in("Grüße 😀")
        assert (await ada.next("plan:ack", rid=rid))["seq"] == 1
        update = await ben.next("plan:update")
        assert update["sender"] == "ada"
        assert ben.replica.text == "Grüße 😀"
        assert "rid" not in update
    async with any_site.browser("rita", channel) as rita:
        await rita.open()
        assert rita.replica.text == "Grüße 😀"


async def test_the_hello_says_who_you_are_and_what_you_may_do(site: Site) -> None:
    channel = await site.document("Field notes")
    async with site.browser("rita", channel) as rita:
        hello = rita.frames[0]
        assert hello["kind"] == "session:hello"
        assert (hello["channelId"], hello["title"], hello["slug"]) == (channel, "Field notes", "field-notes")
        assert (hello["you"]["handle"], hello["canEdit"], hello["canManage"]) == ("rita", False, False)


@pytest.mark.parametrize(
    ("person", "origin", "status"),
    [("ada", "http://evil.example", 403), ("ada", None, 403), (None, "", 401), ("nobody", "", 401), ("eve", "", 404)],
)
async def test_an_upgrade_that_may_not_be_is_refused_in_plain_http(
    any_site: Site, person: str | None, origin: str | None, status: int
) -> None:
    channel = await any_site.document()
    options = {} if origin == "" else {"origin": origin}
    assert await any_site.refused(person, channel, **options) == status


@pytest.mark.parametrize("channel", [UNKNOWN, "not-an-id", "", UNKNOWN.upper(), f"{UNKNOWN}%0A"])
async def test_unknown_and_malformed_channels_look_alike(site: Site, channel: str) -> None:
    assert await site.refused("ada", channel) == 404


async def test_the_probe_tells_what_the_upgrade_would(site: Site) -> None:
    channel = await site.document()
    probe = {"x-chopin-socket-probe": "1"}
    for person, status in (("ada", 204), ("eve", 404), (None, 401)):
        async with site.person(person, **probe) as someone:
            assert (await someone.get(f"/ws?channel={channel}")).status_code == status
    async with site.person("ada") as ada:
        assert (await ada.get(f"/ws?channel={channel}")).status_code == 400


@pytest.mark.parametrize(
    "message", ["", "nonsense", "[]", '{"kind":7}', '{"kind":"no:such"}', "[" * 10_000, b"\x00\xff", '{"kind":"plan:update"}']
)
async def test_what_is_no_frame_is_dropped_and_the_connection_stays(any_site: Site, message: str | bytes) -> None:
    channel = await any_site.document()
    async with any_site.browser("ada", channel) as ada:
        await ada.send_anything(message)
        rid = await ada.send("session:ping")
        await ada.next("session:ping", rid=rid)


@pytest.mark.parametrize("update", ["!!!", "AAAA=A", 7, None])
async def test_an_update_that_is_not_base64_is_refused_and_the_third_closes_the_socket(
    site: Site, update: str | int | None
) -> None:
    channel = await site.document()
    async with site.browser("ada", channel) as ada, site.browser("ben", channel) as ben:
        await ada.open()
        await ben.open()
        for _ in range(3):
            await ada.send("plan:update", epoch=ada.epoch, id="x", update=update)
        assert await ada.closed() == CloseCode.REJECTED_TOO_OFTEN
        rid = await ben.type_in("unharmed")
        await ben.next("plan:ack", rid=rid)


@pytest.mark.parametrize("update", [b"", b"\xff" * 30, b"\x01\x01\x07\x05\xc4\x07\x01\x07\x02\x02XX\x00"])
async def test_bytes_that_are_no_update_are_refused_and_the_third_time_closes_the_socket(any_site: Site, update: bytes) -> None:
    channel = await any_site.document()
    async with any_site.browser("ada", channel) as ada, any_site.browser("ben", channel) as ben:
        await ben.open()
        for _ in range(2):
            await ada.open()
            await ada.submit(update)
            await ada.next("plan:reset")
        await ada.open()
        await ada.submit(update)
        assert await ada.closed() == CloseCode.REJECTED_TOO_OFTEN
        rid = await ben.type_in("unharmed")
        await ben.next("plan:ack", rid=rid)


async def test_an_update_over_the_limit_costs_a_reset_and_one_at_the_limit_does_not(site: Site) -> None:
    channel = await site.document()
    async with site.browser("ada", channel) as ada:
        await ada.open()
        await ada.submit(b"\0" * (LARGEST_UPDATE + 1))
        assert (await ada.next("plan:reset"))["reason"] == "rebuilt"
        await ada.open()
        rid = await ada.type_in("x" * 262_000)
        await ada.next("plan:ack", rid=rid)


async def test_a_document_that_would_grow_too_large_is_refused_whole(site: Site) -> None:
    channel = await site.document()
    async with site.browser("ada", channel) as ada:
        await ada.open()
        await ada.type_in("x" * 262_145)
        await ada.next("plan:reset")
        await ada.open()
        assert ada.replica.text == ""


async def test_typing_too_fast_is_refused_and_going_on_so_closes_the_socket(site: Site) -> None:
    channel = await site.document()
    async with site.browser("ada", channel) as ada:
        await ada.open()
        update = base64.b64encode(b"\0\0").decode()
        frame = json.dumps({"kind": "plan:update", "rid": "fast", "id": "u", "epoch": ada.epoch, "update": update})

        async def flood() -> None:
            while True:
                for _ in range(100):
                    await ada.send_anything(frame)
                await asyncio.sleep(0.05)

        flooding = asyncio.create_task(flood())
        try:
            assert await ada.closed() == CloseCode.RATE_EXCEEDED
        finally:
            flooding.cancel()
            await asyncio.wait([flooding])
        assert any(frame["kind"] == "session:error" for frame in ada.frames)


async def test_a_reader_can_look_but_not_touch(site: Site) -> None:
    channel = await site.document()
    async with site.browser("rita", channel) as rita:
        await rita.open()
        rid = await rita.type_in("mine now")
        assert "may read" in (await rita.next("session:error", rid=rid))["message"]
    async with site.browser("ada", channel) as ada:
        await ada.open()
        assert ada.replica.text == ""


async def test_who_loses_access_is_shut_out_and_told_by_the_code(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = await site.document()
    monkeypatch.setattr(admission, "MEMORY", 0.0)
    async with site.browser("ben", channel) as ben:
        await ben.open()
        del site.register.roles["ben", ENGINE.id]
        await ben.type_in("one last word")
        assert await ben.closed() == CloseCode.ACCESS_LOST
    async with site.browser("ada", channel) as ada:
        await ada.open()
        assert ada.replica.text == ""


async def test_an_outage_of_the_authority_refuses_the_frame_and_keeps_the_socket(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = await site.document()
    monkeypatch.setattr(admission, "MEMORY", 0.0)
    async with site.browser("ben", channel) as ben:
        await ben.open()
        site.register.outage = True
        rid = await ben.type_in("later")
        assert "cannot be checked" in (await ben.next("session:error", rid=rid))["message"]
        site.register.outage = False
        await ben.open()
        rid = await ben.type_in("now")
        await ben.next("plan:ack", rid=rid)


async def test_lost_write_access_makes_the_connection_read_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = await site.document()
    monkeypatch.setattr(admission, "MEMORY", 0.0)
    async with site.browser("ben", channel) as ben:
        await ben.open()
        site.register.roles["ben", ENGINE.id] = Role.PULL
        rid = await ben.type_in("no")
        assert "may read" in (await ben.next("session:error", rid=rid))["message"]


async def test_a_rename_reaches_open_documents_and_the_old_address_still_opens(site: Site) -> None:
    channel = await site.document("First")
    async with site.browser("ben", channel) as ben, site.person("ada") as ada:
        answer = await ada.patch(f"/api/channels/{channel}", json={"title": "Second"})
        assert answer.json()["channel"]["slug"] == "second"
        told = await ben.next("session:channel")
        assert (told["title"], told["slug"]) == ("Second", "second")
        old = await ada.get("/api/repositories/ada/engine/documents/first")
        assert old.json()["channel"]["slug"] == "second"


async def test_cursors_travel_and_go_with_their_owner(site: Site) -> None:
    channel = await site.document()
    async with site.browser("ben", channel) as ben:
        await ben.open()
        async with site.browser("ada", channel) as ada:
            await ada.open()
            state = b"\x01\x07\x01\x02{}"
            await ada.send("plan:awareness", epoch=ada.epoch, update=base64.b64encode(state).decode())
            assert base64.b64decode((await ben.next("plan:awareness"))["update"]) == state
        gone = await ben.next("plan:awareness")
        assert base64.b64decode(gone["update"]) == b"\x01\x07\x02\x04null"


async def test_a_reader_who_stops_reading_is_dropped_and_the_others_go_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "WAITING_CHARACTERS", 400_000)
    channel = await site.document()
    narrow = socket.create_connection(("127.0.0.1", int(site.origin.rpartition(":")[2])))
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.setblocking(False)
    async with (
        site.browser("ada", channel) as ada,
        site.dial("rita", channel, max_queue=1, sock=narrow, close_timeout=0.1) as stuck,
    ):
        await stuck.send(json.dumps({"kind": "plan:open", "rid": "o"}))
        await ada.open()
        for _ in range(120):
            # Written and taken back: a large update each time while the document stays small; random, or it is compressed.
            rid = await ada.type_in(random.randbytes(100_000).hex())
            await ada.next("plan:ack", rid=rid)
            rid = await ada.submit(ada.replica.splice([Splice(0, len(ada.replica.text), "")]))
            await ada.next("plan:ack", rid=rid)
            if len([member for member in ada.frames if member["kind"] == "session:presence"]) > 1:
                break
        else:
            pytest.fail("the slow reader was never dropped")


# cases.md 27, the server's half; the browser's is in e2e/test_connection_loss.py
async def test_who_says_nothing_is_taken_for_gone_and_what_was_typed_on_the_dead_line_arrives_once_later(
    any_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_socket, "SILENCE", 0.5)
    channel = await any_site.document()
    async with any_site.browser("ben", channel) as ben, any_site.browser("ada", channel) as ada:
        await ben.open()
        await ada.open()
        alive = asyncio.create_task(_pings(ben))
        for word in ("one ", "two ", "three "):  # typed, but not a byte leaves the machine
            end = len(ada.replica.text)
            ada.unacknowledged[word] = ada.replica.splice([Splice(end, end, word)])
        while len((await ben.next("session:presence"))["members"]) != 1:
            pass
        assert await ada.closed() == CloseCode.RESTART
        async with any_site.dial("ada", channel) as wire:
            await ada.attach(wire)
            await ada.settled()
            while ben.replica.text != "one two three ":
                await ben.next("plan:update", sender="ada")
        alive.cancel()


async def _pings(browser: Browser) -> None:
    while True:
        await browser.send("session:ping")
        await asyncio.sleep(0.1)


async def test_a_fault_of_storage_gives_no_acknowledgement_and_asks_everybody_to_come_back(
    site: Site,
) -> None:
    channel = await site.document()
    async with site.browser("ada", channel) as ada:
        await ada.open()
        await site.storage.close()
        await ada.type_in("unlucky")
        assert await ada.closed() == CloseCode.RESTART
        assert not [frame for frame in ada.frames if frame["kind"] == "plan:ack"]
    assert site.fatal


async def test_of_a_closed_socket_nothing_waits_for_the_garbage_collector(site: Site) -> None:
    channel = await site.document()
    gc.collect()
    gc.disable()
    try:
        async with site.browser("ada", channel) as ada:
            await ada.open()
            await ada.submit("no base64")
            await ada.next("session:error")
            await ada.type_in("word")
            await ada.settled()
        async with asyncio.timeout(5):
            while [thing for thing in gc.get_objects() if isinstance(thing, Conversation)]:
                await asyncio.sleep(0.01)
    finally:
        gc.enable()
