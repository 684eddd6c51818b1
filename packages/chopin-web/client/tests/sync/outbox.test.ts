import { expect, test } from "vitest";
import * as Y from "yjs";
import { Outbox } from "../../src/sync/outbox";

const LARGEST = 1_000;

function outbox(largest = LARGEST): Outbox {
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  return new Outbox({ newId, merge: Y.mergeUpdates }, largest);
}

/** What typing these pieces one after the other sends. */
function typed(...pieces: string[]): Uint8Array[] {
  const doc = new Y.Doc();
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  for (const piece of pieces) doc.getText("source").insert(doc.getText("source").length, piece);
  return updates;
}

function read(updates: Uint8Array[]): string {
  const doc = new Y.Doc();
  for (const update of updates) Y.applyUpdate(doc, update);
  return doc.getText("source").toString();
}

test("what waits together is sent as one update that does the same", () => {
  const box = outbox();
  for (const update of typed("a", "b", "c")) box.add(update);
  const parcel = box.take();
  expect(parcel && read([parcel.update])).toBe("abc");
  expect(box.take()).toBeNull();
});

test("it is empty only when every parcel is acknowledged, in whichever order", () => {
  const box = outbox();
  const [first, second] = typed("a", "b") as [Uint8Array, Uint8Array];
  box.add(first);
  const one = box.take();
  box.add(second);
  const two = box.take();
  expect(box.acknowledge(two?.id ?? "")).toBe(true);
  expect(box.empty).toBe(false);
  expect(box.acknowledge(one?.id ?? "")).toBe(true);
  expect(box.empty).toBe(true);
});

test("an acknowledgement counts once, and one of something never sent not at all", () => {
  const box = outbox();
  box.add(typed("a")[0] as Uint8Array);
  const id = box.take()?.id ?? "";
  expect(box.acknowledge("other")).toBe(false);
  expect(box.acknowledge(id)).toBe(true);
  expect(box.acknowledge(id)).toBe(false);
});

test("recalled parcels go out again before what came later, merged under a new id", () => {
  const box = outbox();
  const [a, b, c] = typed("a", "b", "c") as [Uint8Array, Uint8Array, Uint8Array];
  box.add(a);
  const first = box.take();
  box.add(b);
  const second = box.take();
  box.add(c);
  box.recall();
  const again = box.take();
  expect(again && read([again.update])).toBe("abc");
  expect([first?.id, second?.id]).not.toContain(again?.id);
  expect(box.acknowledge(first?.id ?? "")).toBe(false);
  expect(box.empty).toBe(false);
});

test("recalled parcels keep their order", () => {
  const box = outbox(1);
  const [a, b, c] = typed("a", "b", "c") as [Uint8Array, Uint8Array, Uint8Array];
  for (const update of [a, b, c]) box.add(update);
  box.take();
  box.take();
  box.recall();
  expect([box.take()?.update, box.take()?.update, box.take()?.update]).toEqual([a, b, c]);
});

test("a refused parcel goes back in front", () => {
  const box = outbox(1);
  const [a, b] = typed("a", "b") as [Uint8Array, Uint8Array];
  box.add(a);
  const id = box.take()?.id ?? "";
  box.add(b);
  expect(box.putBack(id)).toBe(true);
  expect(box.putBack(id)).toBe(false);
  expect(box.take()?.update).toEqual(a);
});

test("merging stops before the outcome would be too large to send", () => {
  const box = outbox(LARGEST);
  for (const update of typed("x".repeat(600), "y".repeat(600))) box.add(update);
  const [one, two] = [box.take(), box.take()];
  expect(one && read([one.update])).toBe("x".repeat(600));
  expect(one && two && read([one.update, two.update])).toBe("x".repeat(600) + "y".repeat(600));
});
