"""Valid values of the stores around a channel, to be changed in the one respect that a test is about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import attrs

from chopin_core.channel import Channel
from chopin_core.ids import JobId, MachineId, SessionId
from chopin_core.jobs.job import Job, JobOrigin, Request
from chopin_core.ports.images import Image, ImageType
from chopin_core.ports.leases import Lease
from chopin_core.ports.machines import Pairing
from chopin_core.ports.web_sessions import Credentials, WebSession
from chopin_storage_pg.storage import PgStorage

from made import ADA, NOW

MINUTE: Final = timedelta(minutes=1)


def web_session(id: str = "session", **changes: Any) -> WebSession:
    plain = WebSession(
        id=SessionId(id),
        user_id=ADA.id,
        expires_at=NOW + timedelta(hours=1),
        created_at=NOW,
        credentials=Credentials(secret_hash=b"hash", ciphertext=b"cipher"),
    )
    return attrs.evolve(plain, **changes)


def pairing(id: str = "machine") -> Pairing:
    return Pairing(id=MachineId(id), owner=ADA.id, label="Laptop", token_hash=id.encode(), ciphertext=b"cipher", now=NOW)


def image(channel: Channel) -> Image:
    return Image(channel_id=channel.id, type=ImageType.PNG, content=b"pixels", uploaded_by=ADA.id, created_at=NOW)


def request(channel: Channel, id: str = "job", **changes: Any) -> Request:
    plain = Request(
        id=JobId(id),
        channel_id=channel.id,
        type="document-summary",
        version=1,
        target_key=id,
        idempotency_key=id,
        fingerprint="f",
        origin=JobOrigin.USER,
        input=None,
        available_at=NOW,
        now=NOW,
    )
    return attrs.evolve(plain, **changes)


async def running(storage: PgStorage, channel: Channel, lease: Lease) -> Job:
    """A job of the channel, claimed for a minute."""
    await storage.jobs.enqueue(request(channel), lease=lease)
    [job] = await storage.jobs.claim(owner="worker", count=1, ttl=MINUTE, now=NOW, lease=lease, channel_id=channel.id)
    return job
