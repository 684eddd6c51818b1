"""The writes of the stores around a channel, to be interrupted: people, sessions, machines, navigation, images, the channel."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import attrs

from chopin_core.counters import AgentGeneration, CredentialRevision, NavigationRevision, PlanRevision
from chopin_core.ids import JobId, MachineId, RepositoryId, SessionId
from chopin_core.people import Person
from chopin_core.ports.agents import AgentContext, AgentStatus
from chopin_core.ports.channels import DescriptionDraft
from chopin_core.ports.machines import MachineCredentials, Pairing
from chopin_core.ports.web_sessions import Credentials, WebSession
from chopin_storage_pg.storage import PgStorage

from made import NOW
from storage_calls import AWAY, LONG, Call, Scene
from stores import image, pairing, web_session

LATER: Final = NOW + timedelta(hours=2)
"""After the end of every session."""


async def remembers_somebody(storage: PgStorage, scene: Scene) -> object:
    return await storage.users.put(Person(id=scene.user.id, login=f"new {scene.name}"), now=LATER)


# Web sessions


def _session(scene: Scene) -> WebSession:
    return web_session(f"session {scene.name}", user_id=scene.user.id)


async def signs_in(storage: PgStorage, scene: Scene) -> None:
    await storage.sessions.create(_session(scene))


async def rotates_a_session(storage: PgStorage, scene: Scene) -> object:
    fresh = Credentials(secret_hash=b"new", ciphertext=b"new", revision=CredentialRevision(2))
    return await storage.sessions.rotate(_session(scene).id, fresh)


async def signs_out(storage: PgStorage, scene: Scene) -> object:
    return await storage.sessions.delete(_session(scene).id, now=NOW)


async def ends_sessions(storage: PgStorage, scene: Scene) -> object:
    return await storage.sessions.delete_expired(now=LATER)


async def resets_sessions(storage: PgStorage, scene: Scene) -> object:
    return await storage.sessions.reset(now=NOW, lease=scene.own, ttl=LONG)


async def with_sessions(storage: PgStorage, scene: Scene) -> None:
    """Somebody who owns the Planner, and somebody of whom only that much is known."""
    await with_a_planner(storage, scene)
    await storage.sessions.create(attrs.evolve(_session(scene), id=SessionId(f"plain {scene.name}"), credentials=None))


# Planner ownership


async def claims_the_planner(storage: PgStorage, scene: Scene) -> object:
    return await storage.agents.claim(scene.channel.id, _session(scene).id, now=NOW)


async def leaves_the_planner(storage: PgStorage, scene: Scene) -> object:
    return await storage.agents.clear(scene.channel.id, _session(scene).id, AgentGeneration(1), now=NOW)


async def keeps_context(storage: PgStorage, scene: Scene) -> None:
    context = AgentContext(summary="What was said", transcript_cursor=3, status=AgentStatus.READY, now=NOW)
    await storage.agents.remember(scene.channel.id, _session(scene).id, AgentGeneration(1), context)


async def with_a_planner(storage: PgStorage, scene: Scene) -> None:
    await signs_in(storage, scene)
    await claims_the_planner(storage, scene)


# Machines


def _pairing(scene: Scene) -> Pairing:
    return attrs.evolve(pairing(f"machine {scene.name}"), owner=scene.user.id)


def _machine(scene: Scene) -> MachineId:
    return _pairing(scene).id


async def pairs(storage: PgStorage, scene: Scene) -> object:
    return await storage.machines.pair(_pairing(scene))


async def changes_a_machine(storage: PgStorage, scene: Scene) -> object:
    here = frozenset({RepositoryId(f"R {scene.name}")})
    return await storage.machines.change(
        _machine(scene), owner=scene.user.id, label="Desktop", repositories=here, auto_run=True
    )


async def touches(storage: PgStorage, scene: Scene) -> object:
    return await storage.machines.touch(_machine(scene), now=NOW)


async def rotates_a_machine(storage: PgStorage, scene: Scene) -> object:
    fresh = MachineCredentials(ciphertext=b"new", revision=CredentialRevision(2))
    return await storage.machines.rotate(_machine(scene), fresh)


async def authorizes(storage: PgStorage, scene: Scene) -> object:
    token = f"new token of {scene.name}".encode()
    return await storage.machines.authorize(_machine(scene), owner=scene.user.id, token_hash=token, ciphertext=b"new")


async def revokes(storage: PgStorage, scene: Scene) -> object:
    return await storage.machines.revoke(_machine(scene), owner=scene.user.id, now=NOW)


async def chooses(storage: PgStorage, scene: Scene) -> None:
    await storage.machines.choose(scene.user.id, scene.channel.id, _machine(scene))


async def favours(storage: PgStorage, scene: Scene) -> None:
    await storage.machines.favour(scene.user.id, _machine(scene))


async def with_a_machine_that_is_chosen(storage: PgStorage, scene: Scene) -> None:
    await pairs(storage, scene)
    await chooses(storage, scene)
    await favours(storage, scene)


# Navigation


async def adds_a_project(storage: PgStorage, scene: Scene) -> object:
    return await storage.navigation.add_project(scene.user.id, scene.channel.repository, now=NOW)


async def sets_the_last_document(storage: PgStorage, scene: Scene) -> object:
    return await storage.navigation.set_last_document(scene.user.id, scene.channel.id, now=NOW)


async def moves_the_last_document(storage: PgStorage, scene: Scene) -> object:
    first = NavigationRevision(0)
    return await storage.navigation.move_last_document(scene.user.id, scene.channel.id, expected=first, now=LATER)


async def visits(storage: PgStorage, scene: Scene) -> object:
    return await storage.navigation.record_visit(scene.user.id, scene.channel.id, scene.channel.repository, now=NOW)


async def somewhere(storage: PgStorage, scene: Scene) -> None:
    await storage.navigation.set_last_document(scene.user.id, None, now=NOW)


# Images, and the channel itself


async def uploads(storage: PgStorage, scene: Scene) -> None:
    await storage.images.put(image(scene.channel))


async def describes(storage: PgStorage, scene: Scene) -> object:
    draft = DescriptionDraft(
        value=f"About {scene.name}",
        plan_revision=PlanRevision(1),
        source_hash=f"sha256:{'0' * 64}",
        job_id=JobId(f"job of {scene.name}"),
        now=NOW,
    )
    return await storage.channels.publish_description(scene.channel.id, draft, lease=scene.writer)


async def archived(storage: PgStorage, scene: Scene) -> None:
    await uploads(storage, scene)
    await visits(storage, scene)
    await storage.channels.archive(scene.channel.id, now=NOW)


async def restores(storage: PgStorage, scene: Scene) -> object:
    return await storage.channels.restore(scene.channel.id, now=NOW)


async def deletes(storage: PgStorage, scene: Scene) -> object:
    return await storage.channels.delete(scene.channel.id)


_RESETS: Final = Call("sessions.reset", resets_sessions, AWAY, before=with_sessions)
_DESCRIBES: Final = Call("channels.publish_description", describes, AWAY)

GUARDED_STORE_CALLS: Final = (_RESETS, _DESCRIBES)
"""Those that need a lease."""

STORE_CALLS: Final = (
    Call("users.put", remembers_somebody, AWAY),
    Call("sessions.create", signs_in, AWAY),
    Call("sessions.rotate", rotates_a_session, AWAY, before=signs_in),
    Call("sessions.delete", signs_out, AWAY, before=with_a_planner),
    Call("sessions.delete_expired", ends_sessions, AWAY, before=with_a_planner),
    _RESETS,
    Call("agents.claim", claims_the_planner, AWAY, before=signs_in),
    Call("agents.clear", leaves_the_planner, AWAY, before=with_a_planner),
    Call("agents.remember", keeps_context, AWAY, before=with_a_planner),
    Call("machines.pair", pairs, AWAY),
    Call("machines.change", changes_a_machine, AWAY, before=pairs),
    Call("machines.touch", touches, AWAY, before=pairs),
    Call("machines.rotate", rotates_a_machine, AWAY, before=pairs),
    Call("machines.authorize", authorizes, AWAY, before=pairs),
    Call("machines.revoke", revokes, AWAY, before=with_a_machine_that_is_chosen),
    Call("machines.choose", chooses, AWAY, before=pairs),
    Call("machines.favour", favours, AWAY, before=pairs),
    Call("navigation.add_project", adds_a_project, AWAY),
    Call("navigation.set_last_document", sets_the_last_document, AWAY),
    Call("navigation.move_last_document", moves_the_last_document, AWAY, before=somewhere),
    Call("navigation.record_visit", visits, AWAY),
    Call("images.put", uploads, AWAY),
    _DESCRIBES,
    Call("channels.restore", restores, AWAY, before=archived),
    Call("channels.delete", deletes, AWAY, before=archived),
)
