import { expect, test } from "vitest";
import { OpenDocuments } from "../../src/sync/openDocuments";
import { Room, Writer } from "../support/room";

async function opened() {
  const room = new Room("Prelude");
  const writers: Writer[] = [];
  const tab = new OpenDocuments(() => {
    const writer = new Writer(room);
    writers.push(writer);
    return writer.provider;
  });
  tab.enter("d1");
  await room.clock.turn(50);
  return { room, tab, writer: writers[0] as Writer, writers };
}

test("a document is closed with its last page when everything is saved", async () => {
  const { room, tab } = await opened();
  tab.enter("d1");
  tab.leave("d1");
  expect(room.online).toBe(1);
  tab.leave("d1");
  expect(room.online).toBe(0);
  expect(room.clock.waiting).toBe(0);
});

test("a page that is left while something is unsaved loses nothing", async () => {
  const { room, tab, writer } = await opened();
  room.refuses = 503;
  room.cut(1006);
  await room.clock.turn(20);
  writer.type("!");
  tab.leave("d1");
  expect(tab.unsaved).toBe(true);
  room.refuses = null;
  await room.clock.turn(3_000);
  expect(room.text).toBe("Prelude!");
  expect(tab.unsaved).toBe(false);
  expect(room.online).toBe(0);
});

test("coming back to a document that is still being saved finds the same copy", async () => {
  const { room, tab, writer, writers } = await opened();
  room.acknowledges = false;
  writer.type("!");
  tab.leave("d1");
  expect(tab.enter("d1")).toBe(writer.provider);
  room.acknowledges = true;
  await room.clock.turn(20_000);
  expect(writer.status.save).toBe("saved");
  expect(room.online).toBe(1);
  tab.leave("d1");
  tab.enter("d1");
  expect(writers).toHaveLength(2);
  tab.leave("d1");
});

test("a deleted document keeps nothing open", async () => {
  const { room, tab, writer } = await opened();
  room.acknowledges = false;
  writer.type("!");
  tab.leave("d1");
  room.tell({ kind: "session:deleted" });
  await room.clock.turn(100);
  expect(tab.unsaved).toBe(false);
  expect(room.clock.waiting).toBe(0);
});
