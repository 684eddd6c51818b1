import { expect, test } from "vitest";
import { readFrame, writeFrame } from "../../src/wire/frames";

const member = { handle: "frederic", client: "c1" };

test("a frame is read with its binary payload, and without fields nobody asked for", () => {
  const frame = readFrame(
    JSON.stringify({ kind: "plan:update", ts: 1, epoch: "e", seq: 2, update: "AQI=", extra: true }),
  );
  expect(frame).toEqual({ kind: "plan:update", epoch: "e", update: Uint8Array.of(1, 2) });
});

test("absent and null are the same for what may be absent", () => {
  const channel = {
    kind: "session:channel",
    channelId: "d",
    title: "t",
    slug: "s",
    updatedAt: "u",
    descriptionRevision: 0,
  };
  const read = readFrame(JSON.stringify({ ...channel, archivedAt: null }));
  expect(read).toEqual(readFrame(JSON.stringify(channel)));
  expect(read).not.toHaveProperty("archivedAt");
});

test.each([
  ["no JSON", "{"],
  ["no object", "3"],
  ["null", "null"],
  ["an unknown kind", JSON.stringify({ kind: "chat:history" })],
  ["the name of something every object has", JSON.stringify({ kind: "toString" })],
  ["a missing field", JSON.stringify({ kind: "session:presence" })],
  ["a field of another type", JSON.stringify({ kind: "session:presence", members: [{ ...member, client: 5 }] })],
  ["broken base64", JSON.stringify({ kind: "plan:awareness", epoch: "e", update: "%" })],
])("%s is no frame", (_, message) => {
  expect(readFrame(message)).toBeNull();
});

test("a frame is written with its time in seconds and its bytes as base64", () => {
  const written = writeFrame({ kind: "plan:update", rid: "r", epoch: "e", id: "i", update: Uint8Array.of(1, 2) }, 12);
  expect(JSON.parse(written)).toEqual({ kind: "plan:update", rid: "r", epoch: "e", id: "i", update: "AQI=", ts: 12 });
});
