import { EditorState, Text, type TransactionSpec } from "@codemirror/state";
import { expect, test } from "vitest";
import { ySyncAnnotation } from "y-codemirror.next";
import * as Y from "yjs";
import { access } from "../../src/editor/access";
import { BYTES_PER_RANGE, clean, limits, utf8Length } from "../../src/editor/limits";

function edited(doc: string, spec: TransactionSpec, source = 20, update = 1_000) {
  const refused: string[] = [];
  const extensions = limits(
    () => ({ source, update }),
    (why) => refused.push(why),
  );
  const after = EditorState.create({ doc, extensions }).update(spec).state.doc.toString();
  return { after, refused };
}

const shared = ySyncAnnotation.of(Object.create(null) as never);

test("what would make the document too large is refused whole, with a reason", () => {
  const { after, refused } = edited("0123456789", { changes: { from: 0, insert: "x".repeat(11) } });
  expect(after).toBe("0123456789");
  expect(refused).toHaveLength(1);
});

test("the limit itself is allowed", () => {
  expect(edited("0123456789", { changes: { from: 0, insert: "x".repeat(10) } }).refused).toEqual([]);
});

test("it is bytes that count, not letters", () => {
  expect(edited("", { changes: { from: 0, insert: "é".repeat(11) } }).refused).toHaveLength(1);
  expect(edited("", { changes: { from: 0, insert: "é".repeat(10) } }).refused).toEqual([]);
});

test("a document that is too large already may get smaller", () => {
  const { after, refused } = edited("x".repeat(30), { changes: { from: 0, to: 5, insert: "abc" } });
  expect(after).toBe(`abc${"x".repeat(25)}`);
  expect(refused).toEqual([]);
});

test("what the shared document says is never refused", () => {
  const spec = { changes: { from: 0, insert: "x".repeat(50) }, annotations: shared };
  expect(edited("", spec).after).toHaveLength(50);
});

test("a change in very many places at once is refused before it becomes an update nobody takes", () => {
  const { after, refused } = edited("xo".repeat(30), { changes: everySecond(30) }, 100);
  expect(after).toBe("xo".repeat(30));
  expect(refused).toHaveLength(1);
});

test("the size that is reckoned with is never below what the update really has", () => {
  const places = 5_000;
  const doc = new Y.Doc();
  const text = doc.getText("source");
  text.insert(0, "xo".repeat(places));
  const updates: Uint8Array[] = [];
  doc.on("update", (update: Uint8Array) => updates.push(update));
  doc.transact(() => {
    for (const { from } of everySecond(places)) {
      text.delete(from, 1);
      text.insert(from, "y");
    }
  });
  expect(updates[0]?.length).toBeLessThan(places * BYTES_PER_RANGE);
});

function everySecond(places: number) {
  return Array.from({ length: places }, (_, index) => ({ from: 2 * index, to: 2 * index + 1, insert: "y" }));
}

test.each(["\u0000", "\u001b", "\u0085", "\ud800"])("a character that no document keeps is refused", (character) => {
  expect(edited("", { changes: { from: 0, insert: `a${character}b` } }).refused).toHaveLength(1);
});

test("pasted text loses those characters and keeps everything else", () => {
  expect(clean("a\u0000\tb\r\nc\rd\u009f 😀 e\u0301")).toBe("a\tb\nc\nd 😀 e\u0301");
  expect(clean("half \ud83d")).toBe("half \ufffd");
});

test("length is counted as the server counts it", () => {
  const text = "é😀\n漢";
  expect(utf8Length(Text.of(text.split("\n")))).toBe(Buffer.byteLength(text));
});

test("nothing can be typed while it must not be, and what others type still appears", () => {
  let editable = false;
  const state = EditorState.create({ doc: "a", extensions: access("write", () => editable) });
  const typed = { changes: { from: 0, insert: "b" } };
  expect(state.update(typed).state.doc.toString()).toBe("a");
  expect(state.update({ ...typed, annotations: shared }).state.doc.toString()).toBe("ba");
  editable = true;
  expect(state.update(typed).state.doc.toString()).toBe("ba");
});
