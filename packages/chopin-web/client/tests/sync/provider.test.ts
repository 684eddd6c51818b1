import { afterEach, beforeEach, expect, test } from "vitest";
import { ACK_WITHIN } from "../../src/sync/delivery";
import { OFFLINE_AFTER } from "../../src/sync/outage";
import { closeCodes } from "../../src/wire/closeCodes";
import { Room, Writer } from "../support/room";

let room: Room;
let writer: Writer;

async function open(text = ""): Promise<void> {
  room = new Room(text);
  writer = new Writer(room);
  await room.clock.turn(50);
}

beforeEach(() => open("Prelude"));
afterEach(() => writer.provider.destroy());

test("an opened document shows the server's text and is saved", () => {
  expect(writer.text).toBe("Prelude");
  expect(writer.status).toMatchObject({ link: "online", save: "saved", editable: true, ended: null });
});

test("it is saving until the acknowledgement, not until the sending", async () => {
  room.acknowledges = false;
  writer.type(" in C");
  expect(writer.status.save).toBe("saving");
  await room.clock.turn(100);
  expect(room.text).toBe("Prelude in C");
  expect(writer.status.save).toBe("saving");
});

test("keystrokes close together travel as one update", async () => {
  for (const letter of " in C minor") writer.type(letter);
  await room.clock.turn(100);
  expect(room.updates()).toHaveLength(1);
  expect(writer.status.save).toBe("saved");
});

test("while one update is under way the next ones gather", async () => {
  room.acknowledges = false;
  writer.type("1");
  await room.clock.turn(20);
  writer.type("2");
  await room.clock.turn(20);
  writer.type("3");
  await room.clock.turn(100);
  expect(room.updates()).toHaveLength(1);
  room.acknowledges = true;
  room.tell({ kind: "plan:ack", epoch: room.epoch, id: room.updates()[0]?.id, seq: 1 });
  await room.clock.turn(100);
  expect(room.updates()).toHaveLength(2);
  expect(room.text).toBe("Prelude123");
  expect(writer.status.save).toBe("saved");
});

test("what others type appears here and counts as nothing of ours", async () => {
  room.insert(0, "A ");
  await room.clock.turn(20);
  expect(writer.text).toBe("A Prelude");
  expect(writer.status.save).toBe("saved");
  expect(room.updates()).toHaveLength(0);
});

test("a blip loses nothing and shows nothing", async () => {
  room.cut(1006);
  await room.clock.turn(50);
  writer.type(" typed in between");
  expect(writer.status).toMatchObject({ link: "blip", save: "saving", editable: true });
  await room.clock.turn(700);
  expect(room.text).toBe("Prelude typed in between");
  expect(writer.status).toMatchObject({ link: "online", save: "saved" });
});

test("every blip is bridged as quickly as the first", async () => {
  for (let blip = 0; blip < 6; blip += 1) {
    room.cut(1006);
    await room.clock.turn(600);
    expect(writer.status.link).toBe("online");
  }
});

test("only what is missing is asked for when the epoch is the same", async () => {
  room.cut(1006);
  await room.clock.turn(700);
  const [first, second] = room.received.filter(({ kind }) => kind === "plan:open");
  expect(first).not.toHaveProperty("vector");
  expect(second).toMatchObject({ epoch: "first", vector: expect.any(String) });
});

test("what was never acknowledged is sent again, once, although the server may have it", async () => {
  room.acknowledges = false;
  writer.type("!");
  await room.clock.turn(50);
  room.acknowledges = true;
  room.cut(1012);
  await room.clock.turn(700);
  expect(room.updates()).toHaveLength(2);
  expect(room.text).toBe("Prelude!");
  expect(writer.text).toBe("Prelude!");
  expect(writer.status.save).toBe("saved");
});

test("an acknowledgement that never comes is asked for again", async () => {
  room.acknowledges = false;
  writer.type("!");
  await room.clock.turn(50);
  room.acknowledges = true;
  await room.clock.turn(ACK_WITHIN);
  await room.clock.turn(50);
  expect(writer.status.save).toBe("saved");
});

test("a half-open connection is offline within the heartbeat limit, and what was typed arrives afterwards", async () => {
  room.mute = true;
  writer.type(" unheard");
  await room.clock.turn(15_000);
  expect(writer.status).toMatchObject({ link: "offline", save: "held", editable: false });
  room.mute = false;
  writer.provider.hurry();
  await room.clock.turn(100);
  expect(room.text).toBe("Prelude unheard");
  expect(writer.status).toMatchObject({ link: "online", save: "saved", editable: true });
});

test("during a long outage the document can't be typed in", async () => {
  room.refuses = 503;
  room.cut(1006);
  await room.clock.turn(OFFLINE_AFTER + 10);
  expect(writer.status).toMatchObject({ link: "offline", editable: false });
});

test("a document that cannot be opened yet is no usable connection", async () => {
  room.errs = true;
  room.cut(1006);
  await room.clock.turn(700);
  expect(room.online).toBe(1);
  await room.clock.turn(OFFLINE_AFTER);
  expect(writer.status.link).toBe("offline");
  room.errs = false;
  await room.clock.turn(10_000);
  expect(writer.status.link).toBe("online");
});

test("a refused update stays here and goes out again", async () => {
  room.errs = true;
  writer.type("?");
  await room.clock.turn(50);
  expect(writer.status.save).toBe("saving");
  await room.clock.turn(1_100);
  expect(writer.status.save).toBe("held");
  room.errs = false;
  await room.clock.turn(3_000);
  expect(room.text).toBe("Prelude?");
  expect(writer.status.save).toBe("saved");
});

test("once an update was taken, a later refusal is the first one again", async () => {
  room.errs = true;
  writer.type("?");
  await room.clock.turn(5_000);
  room.errs = false;
  await room.clock.turn(5_000);
  expect(writer.status.save).toBe("saved");
  room.errsOnce = true;
  writer.type("!");
  await room.clock.turn(50);
  expect(writer.status.save).toBe("saving");
  await room.clock.turn(1_000);
  expect(writer.status.save).toBe("saved");
});

test("having been refused to open says nothing about edits", async () => {
  room.errs = true;
  room.cut(1006);
  await room.clock.turn(4_000);
  room.errs = false;
  await room.clock.turn(10_000);
  writer.type("!");
  expect(writer.status.save).toBe("saving");
});

test("nothing that builds on a refused update is sent before it", async () => {
  room.errsOnce = true;
  writer.type("1");
  await room.clock.turn(9);
  writer.type("2");
  await room.clock.turn(3_000);
  expect(room.text).toBe("Prelude12");
  expect(room.incomplete).toBe(0);
});

test("after a reset the history is another, and typing goes on", async () => {
  const before = writer.status.replica;
  room.rebuild("second");
  room.reset();
  await room.clock.turn(100);
  expect(writer.status.replica).not.toBe(before);
  expect(writer.text).toBe("Prelude");
  expect(writer.status.unsent).toEqual([]);
  writer.type("!");
  await room.clock.turn(100);
  expect(room.text).toBe("Prelude!");
});

test("between the reset and the new document nothing can be typed", async () => {
  room.rebuild("second");
  room.reset();
  await room.clock.turn(5);
  expect(writer.status.editable).toBe(false);
});

test("unsent edits are dropped by a reset, and the text is offered", async () => {
  room.acknowledges = false;
  writer.type(" mine");
  await room.clock.turn(50);
  room.rebuild("second", "Prelude");
  room.acknowledges = true;
  room.reset();
  await room.clock.turn(100);
  expect(writer.text).toBe("Prelude");
  expect(room.updates()).toHaveLength(1);
  expect(writer.status.unsent.map(({ text }) => text)).toEqual(["Prelude mine"]);
  expect(writer.status.save).toBe("saved");
  writer.provider.dismissUnsent(writer.status.unsent[0]?.id ?? "");
  expect(writer.status.unsent).toEqual([]);
});

test("until it is known what became of unsent edits, they are not saved", async () => {
  room.acknowledges = false;
  writer.type(" mine");
  await room.clock.turn(50);
  room.rebuild("second", "Prelude");
  room.reset();
  await room.clock.turn(5);
  expect(writer.status.save).not.toBe("saved");
});

test("edits that had arrived all the same raise no alarm", async () => {
  room.acknowledges = false;
  writer.type(" mine");
  await room.clock.turn(50);
  room.rebuild("second");
  room.reset("compacted");
  await room.clock.turn(100);
  expect(writer.text).toBe("Prelude mine");
  expect(writer.status.unsent).toEqual([]);
});

test("a document rebuilt during an outage is never merged with ours", async () => {
  room.refuses = 503;
  room.cut(1006);
  await room.clock.turn(20);
  writer.type(" mine");
  room.rebuild("second", "Prelude");
  room.refuses = null;
  await room.clock.turn(3_000);
  expect(room.text).toBe("Prelude");
  expect(writer.text).toBe("Prelude");
  expect(writer.status.unsent.map(({ text }) => text)).toEqual(["Prelude mine"]);
});

test("a reset within the same epoch fetches the whole document too", async () => {
  writer.type(" mine");
  room.reset();
  await room.clock.turn(100);
  expect(room.received.filter(({ kind }) => kind === "plan:open").at(-1)).not.toHaveProperty("vector");
  expect(writer.text).toBe(room.text);
});

test("an update too large to send is taken back instead of being sent for ever", async () => {
  writer.provider.destroy();
  room = new Room("Prelude");
  room.largestUpdate = 500;
  writer = new Writer(room);
  await room.clock.turn(50);
  writer.type("x".repeat(600));
  await room.clock.turn(5_000);
  expect(room.updates()).toHaveLength(0);
  expect(writer.text).toBe("Prelude");
  expect(writer.status.unsent).toHaveLength(1);
});

test("an update that lacks what it builds on makes us ask again", async () => {
  const vector = room.since(Uint8Array.of(0));
  room.doc.getText("source").insert(0, "lost ");
  room.insert(0, "seen ");
  await room.clock.turn(50);
  expect(vector).not.toBe(room.since(Uint8Array.of(0)));
  expect(writer.text).toBe("seen lost Prelude");
});

test("frames of another epoch are ignored", async () => {
  room.tell({ kind: "plan:update", epoch: "other", seq: 1, update: room.since(Uint8Array.of(0)) });
  room.tell({ kind: "plan:awareness", epoch: "other", update: "" });
  await room.clock.turn(20);
  expect(writer.text).toBe("Prelude");
});

test("without the right to edit nothing is sent, and nothing is forgotten", async () => {
  writer.type("!");
  room.tell({ kind: "session:access", canEdit: false, canManage: true });
  await room.clock.turn(6);
  await room.clock.turn(100);
  expect(writer.status.editable).toBe(false);
  writer.type("?");
  await room.clock.turn(100);
  expect(writer.status.save).toBe("held");
  room.tell({ kind: "session:access", canEdit: true, canManage: true });
  await room.clock.turn(100);
  expect(room.text).toBe("Prelude!?");
  expect(writer.status.save).toBe("saved");
});

test("after signing in again the kept edits are sent", async () => {
  room.refuses = 401;
  room.cut(1006);
  await room.clock.turn(20);
  writer.type(" kept");
  await room.clock.turn(5_000);
  expect(writer.status).toMatchObject({ ended: "signed-out", save: "held", editable: false });
  room.refuses = null;
  writer.provider.resume();
  await room.clock.turn(100);
  expect(room.text).toBe("Prelude kept");
  expect(writer.status).toMatchObject({ ended: null, save: "saved" });
});

test("a deleted document is over, and what was unsent is offered", async () => {
  room.acknowledges = false;
  writer.type(" mine");
  await room.clock.turn(50);
  room.tell({ kind: "session:deleted", channelId: "d1" });
  room.cut(closeCodes.Deleted);
  await room.clock.turn(50);
  writer.provider.resume();
  await room.clock.turn(60_000);
  expect(writer.status.ended).toBe("deleted");
  expect(writer.status.metadata?.title).toBe("Nocturne");
  expect(writer.status.unsent.map(({ text }) => text)).toEqual(["Prelude mine"]);
  expect(room.online).toBe(0);
});

test("a late answer to our rename does not replace a newer one of somebody else", async () => {
  const renamed = { channelId: "d1", slug: "theirs", descriptionRevision: 0 };
  room.tell({ kind: "session:channel", ...renamed, title: "Theirs", updatedAt: "2026-11-30T10:00:02Z" });
  await room.clock.turn(20);
  writer.provider.learn({ title: "Ours", slug: "ours", updatedAt: "2026-11-30T10:00:01Z" });
  expect(writer.status.metadata?.title).toBe("Theirs");
});

test("the status is the same object until something changes", async () => {
  const before = writer.status;
  await room.clock.turn(60_000);
  room.tell({ kind: "plan:awareness", epoch: "other", update: "" });
  await room.clock.turn(20);
  expect(writer.status).toBe(before);
  room.tell({ kind: "session:presence", members: [] });
  await room.clock.turn(20);
  expect(writer.status).not.toBe(before);
});
