"""One open document: its members, and the single file in which changes become durable and are then told."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import attrs

from chopin_core.channel import Channel, TitlePolicy
from chopin_core.counters import DocumentCounters, DocumentSequence, Epoch, PlanRevision
from chopin_core.document.canonical import canonical
from chopin_core.document.splice import Splice
from chopin_core.errors import ChannelArchived, ChannelMissing, Closing, Invalid, TitleTaken, UpdateMalformed
from chopin_core.ids import OperationId
from chopin_core.jsonvalue import Json
from chopin_core.ports.collaboration import TitleChange
from chopin_core.ports.documents import SharedText
from chopin_core.room.audience import Audience
from chopin_core.room.authorship import Authorship
from chopin_core.room.batch import Shadow, Submission
from chopin_core.room.checkpoints import Checkpoints
from chopin_core.room.events import ChannelChanged, MemberView, RoomClosed, Struck, Updated
from chopin_core.room.foundation import Foundation
from chopin_core.room.history import History
from chopin_core.room.limits import LARGEST_UPDATE
from chopin_core.room.member import Member
from chopin_core.room.recovery import recoverable_source
from chopin_core.room.relay import acknowledgements, relays
from chopin_core.sidecar import Sidecar

T = TypeVar("T")

PENDING_BYTES = 8 * 1024 * 1024
"""Above this much that waits to be decided, ``submit`` holds its callers back."""


@attrs.frozen(kw_only=True)
class Opening:
    """What a member needs to show the document and go on from there."""

    epoch: Epoch
    sequence: DocumentSequence
    revision: PlanRevision
    update: bytes
    cursors: bytes | None


@attrs.frozen(kw_only=True)
class RoomView:
    """The document as it is durable now."""

    channel: Channel
    text: str
    sidecar: Sidecar


@attrs.frozen(kw_only=True)
class Edit:
    """A change by the server: what becomes of the text, and the sidecar sections to write along with it."""

    splices: Sequence[Splice] = ()
    sections: Mapping[str, Json] = attrs.field(factory=dict)


class Room:
    """
    One open document.

    Everything that writes runs in a task of the room's own, one at a time, so a caller that goes away cannot stop a commit
    half-way. Members hear of a change only when it is durable. Reads answer what is durable, never what is in flight.
    """

    def __init__(
        self,
        foundation: Foundation,
        history: History,
        *,
        channel: Channel,
        epoch: Epoch,
        live: SharedText,
        sidecar: Sidecar,
        journal_rows: int,
    ) -> None:
        self._on = foundation
        self._history = history
        self._channel = channel
        self._epoch = epoch
        self._live = live
        self._audience = Audience()
        self._shadow = self._shadow_of(live)
        self._sidecar = sidecar
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pending: list[Submission] = []
        self._pending_since = 0.0
        self._pending_bytes = 0
        self._room_again = asyncio.Event()
        self._flusher: asyncio.Task[None] | None = None
        self._checkpoints = Checkpoints(foundation.timings, rows=journal_rows)
        self._closed = False

    # Looking

    @property
    def channel(self) -> Channel:
        return self._channel

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def members(self) -> tuple[MemberView, ...]:
        return self._audience.views

    def view(self) -> RoomView:
        return RoomView(channel=self._channel, text=self._live.text, sidecar=self._sidecar)

    # Coming and going

    def join(self, member: Member) -> None:
        self._audience.join(member)

    def leave(self, member: Member) -> None:
        self._audience.leave(member, self._epoch)

    def open(self, member: Member, epoch: str | None = None, vector: bytes | None = None) -> Opening:
        """
        The document for a member: what its replica lacks if it is of this epoch, else all of it.

        Raises:
            UpdateMalformed: the vector cannot be read.
        """
        same = epoch == self._epoch and vector is not None
        update = self._live.diff(vector) if same and vector is not None else self._live.update()
        self._audience.open(member)
        counters = self._sidecar.counters
        return Opening(
            epoch=self._epoch,
            sequence=counters.sequence,
            revision=counters.plan,
            update=update,
            cursors=self._audience.cursors,
        )

    def close(self, member: Member) -> None:
        """The member stops looking at the document but stays in the room."""
        self._audience.close(member, self._epoch)

    def move_cursor(self, member: Member, epoch: str, update: bytes) -> None:
        """
        Show a member's awareness to the others; one of another epoch is ignored.

        Raises:
            UpdateMalformed: it does not hold exactly one readable state.
        """
        if epoch == self._epoch:
            self._audience.move_cursor(member, self._epoch, update)

    # Changing the document

    async def submit(self, submission: Submission, epoch: str) -> None:
        """
        Take an update in; what becomes of it is told to its member. Holds the caller back while too much is waiting.

        One of another epoch is ignored, and so is one from a member who did not open the document since its last reset: it
        was or will be told. One that is too large costs its sender a reset.
        """
        opening = self._audience.opened.get(submission.member)
        if self._closed or epoch != self._epoch or opening is None:
            return
        if len(submission.update) > LARGEST_UPDATE:
            self._audience.reset(submission.member, self._epoch)
            return
        if not self._pending:
            self._pending_since = asyncio.get_running_loop().time()
        self._pending.append(attrs.evolve(submission, opening=opening))
        self._pending_bytes += len(submission.update)
        if self._flusher is None:
            self._flusher = self._spawn(self._flush())
        while self._pending_bytes > PENDING_BYTES and not self._closed:
            self._room_again.clear()
            await self._room_again.wait()

    async def edit(self, change: Callable[[RoomView], Edit | None], by: str | None = None) -> RoomView:
        """
        Change the document on the server's side. ``change`` sees what is durable and answers what to do, or None for
        nothing; it may raise to refuse. ``by`` is told to the members as the sender.

        Raises:
            UpdateRefused: the outcome would be no valid document.
            Closing: the room is closing.
            Whatever ``change`` raises; nothing was changed then.
        """
        return await self._in_turn(lambda: self._edit(change, by))

    async def rename(self, title: str, titles: TitlePolicy) -> Channel:
        """
        Change title and address in one commit, and tell everybody.

        Raises:
            TitleTaken: the policy refuses it.
            ChannelArchived, Closing.
        """
        return await self._in_turn(lambda: self._rename(title, titles))

    async def shut(self) -> None:
        """Finish what was taken in, fold the journal, and take no more. Members are told."""
        while self._flusher is not None:
            await asyncio.wait([self._flusher])
        with suppress(Exception):  # a fault was reported where it happened, and the room has ended
            await self._checkpoint()
        if not self._closed:
            self._end()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # Inside: one turn at a time

    async def _in_turn(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def turn() -> T:
            async with self._turn:
                if self._closed:
                    raise Closing()
                return await work()

        return await asyncio.shield(self._spawn(turn()))

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._pending:
                if (wait := self._pending_since + self._on.timings.grouping - loop.time()) > 0:
                    await asyncio.sleep(wait)
                async with self._turn:
                    if self._closed:
                        return  # the shadow may be ahead of what was kept, and a new room may be writing
                    batch, self._pending, self._pending_bytes = self._pending, [], 0
                    self._room_again.set()
                    with self._ending_on_fault():
                        await self._settle(batch)
        finally:
            self._flusher = None

    async def _settle(self, batch: Sequence[Submission]) -> None:
        decision = self._shadow.decide(self._live, batch)
        for refused in decision.refused:
            refused.submission.member.tell(Struck(reason=refused.reason))
            self._audience.reset(refused.submission.member, self._epoch)
        if decision.update:
            counters = self._sidecar.counters.accepted(len(decision.accepted), text_changed=decision.text_changed)
            await self._keep(decision.update, counters)
        self._publish(decision.update)
        sequence = self._sidecar.counters.sequence
        for member, acknowledged in acknowledgements(decision, self._epoch, sequence):
            member.tell(acknowledged)
        for member, updated in relays(decision, self._epoch, sequence, self._audience.opened):
            member.tell(updated)
        await self._follow(decision.update)

    async def _edit(self, change: Callable[[RoomView], Edit | None], by: str | None) -> RoomView:
        edit = change(self.view())
        if edit is None:
            return self.view()
        if self._channel.archived:
            raise ChannelArchived(self._channel.id)
        update = self._shadow.edit(self._live, edit.splices) if edit.splices else b""
        counters = self._sidecar.counters
        if update:
            counters = counters.accepted(1, text_changed=True)
        with self._ending_on_fault():
            await self._keep(update, counters, edit.sections)
            self._publish(update)
            if update:
                self._audience.tell_opened(
                    Updated(epoch=self._epoch, update=update, sequence=counters.sequence, sender=by, agent=True)
                )
            await self._follow(update)
        return self.view()

    async def _rename(self, title: str, titles: TitlePolicy) -> Channel:
        if self._channel.archived:
            raise ChannelArchived(self._channel.id)
        with self._ending_on_fault(TitleTaken, Invalid):
            await self._history.commit(
                operation_id=OperationId(self._on.new_id()),
                epoch=self._epoch,
                title=TitleChange(title=title, titles=titles),
            )
            channel = await self._on.channels.get(self._channel.id)
            if channel is None:
                raise ChannelMissing(self._channel.id)
        self._checkpoints.committed(self._fold_soon)
        self._channel = channel
        self._audience.tell_all(ChannelChanged(channel=channel))
        return channel

    async def _keep(self, update: bytes, counters: DocumentCounters, sections: Mapping[str, Json] | None = None) -> None:
        """Make a change durable; nobody may hear of it before this returns."""
        sidecar, patch = self._sidecar.patched(counters, sections)
        await self._history.commit(
            operation_id=self._operation(update) if update else OperationId(self._on.new_id()),
            epoch=self._epoch,
            update=update or None,
            sidecar=patch,
        )
        self._sidecar = sidecar
        self._checkpoints.committed(self._fold_soon)

    def _publish(self, update: bytes) -> None:
        """What is durable is what is seen. To be called before anybody is told, with nothing in between."""
        if update:
            self._live = self._shadow.exchanged(self._live)

    async def _follow(self, update: bytes) -> None:
        """Bring the other replica to where the live one is; start over if it does not get there."""
        if not update:
            return
        await asyncio.sleep(0)  # whoever was just told need not wait for this
        try:
            self._shadow.catch_up(update)
        except UpdateMalformed:
            await self._rebuild()
            return
        if self._shadow.text != self._live.text:
            await self._rebuild()

    def _shadow_of(self, live: SharedText) -> Shadow:
        return Shadow(self._on.engine, live, self._on.check, Authorship(self._audience.shower))

    def _operation(self, update: bytes) -> OperationId:
        # Derived, so that the same bytes in the same epoch are recognised as the same operation.
        return OperationId(f"{self._epoch}:{hashlib.sha256(update).hexdigest()}")

    async def _rebuild(self) -> None:
        """
        Start over under a new epoch, from the text that was accepted.

        The last resort when two replicas disagree: nothing acknowledged is lost, but carets and undo are.
        """
        text = self._live.text
        live = self._on.engine.new()
        if text:
            live.splice([Splice(0, 0, text)])
        epoch = Epoch(self._on.new_id())
        await self._history.replace(epoch=epoch, source=canonical(text), document=live.update(), sidecar=self._sidecar.record())
        self._epoch, self._live = epoch, live
        self._shadow = self._shadow_of(live)
        self._checkpoints.folded()
        self._audience.reset_everybody(epoch)

    # Checkpoints

    def _fold_soon(self) -> None:
        self._spawn(self._checkpoint())

    async def _checkpoint(self) -> None:
        async with self._turn:
            if not self._closed and self._checkpoints.needed:
                with self._ending_on_fault():
                    await self._fold()

    async def _fold(self) -> None:
        text, document = self._live.text, self._live.update()
        # Off the event loop: it is the one step whose cost grows with the document.
        source = await asyncio.to_thread(recoverable_source, text, document, self._on.engine)
        if source is None:
            await self._rebuild()
            return
        await self._history.checkpoint(epoch=self._epoch, source=source, document=document)
        self._checkpoints.folded()

    # Ending

    @contextmanager
    def _ending_on_fault(self, *refusals: type[Exception]) -> Iterator[None]:
        """After a fault the position in storage is not known, so the room ends; ``refusals`` leave it as it was."""
        try:
            yield
        except refusals:
            raise
        except asyncio.CancelledError:
            self._end()
            raise
        except Exception as error:
            if not self._closed:
                self._end()
                self._on.failed(error)
            raise

    def _end(self) -> None:
        self._closed = True
        self._pending.clear()
        self._room_again.set()
        self._checkpoints.cancel()
        self._audience.tell_all(RoomClosed())

    def _spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        # A fault was reported where it happened; whoever waits for the task still gets it.
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()
