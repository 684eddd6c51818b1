import { expect, test } from "vitest";
import { CALM_DOWN, Connection, OPEN_WITHIN } from "../../src/sync/connection";
import { ANSWER_WITHIN, BEAT_EVERY } from "../../src/sync/heartbeat";
import { closeCodes } from "../../src/wire/closeCodes";
import { Room } from "../support/room";

function connected() {
  const room = new Room();
  const events: string[] = [];
  const connection = new Connection(room.around(), {
    up: () => events.push("up"),
    frame: ({ kind }) => events.push(kind),
    down: (how) => events.push(how),
    ended: (why) => events.push(why),
  });
  connection.connect();
  return { room, events, connection };
}

const HEARTBEAT = BEAT_EVERY + ANSWER_WITHIN;

test("answered heartbeats keep a quiet connection for as long as one likes", async () => {
  const { room, events } = connected();
  await room.clock.turn(10 * HEARTBEAT);
  expect(events).toEqual(["up", "session:hello"]);
  expect(room.received.filter(({ kind }) => kind === "session:ping").length).toBeGreaterThan(10);
});

test("a connection that hears nothing is given up within the heartbeat limit", async () => {
  const { room, events } = connected();
  await room.clock.turn(1_000);
  room.mute = true;
  await room.clock.turn(HEARTBEAT);
  expect(events).toEqual(["up", "session:hello", "silent"]);
});

test("an answer to something else does not count as a heartbeat", async () => {
  const { room, events } = connected();
  await room.clock.turn(1_000);
  room.mute = true;
  await room.clock.turn(BEAT_EVERY);
  room.mute = false;
  room.tell({ kind: "session:ping", rid: "another" });
  await room.clock.turn(ANSWER_WITHIN);
  expect(events).toContain("silent");
});

test("a lost connection is tried again after a growing pause", async () => {
  const { room, events } = connected();
  await room.clock.turn(100);
  room.cut(1006);
  await room.clock.turn(400);
  expect(events.filter((event) => event === "up")).toHaveLength(1);
  await room.clock.turn(200);
  expect(events).toEqual(["up", "session:hello", "closed", "up", "session:hello"]);
  room.cut(1006);
  await room.clock.turn(900);
  expect(room.online).toBe(0);
  await room.clock.turn(200);
  expect(room.online).toBe(1);
});

test("the browser's word that the network is back cuts the pause short", async () => {
  const { room, connection } = connected();
  room.mute = true;
  await room.clock.turn(3 * OPEN_WITHIN);
  room.mute = false;
  connection.hurry();
  await room.clock.turn(20);
  expect(room.online).toBe(1);
});

test("an attempt that hangs is given up", async () => {
  const { room, events } = connected();
  room.mute = true;
  await room.clock.turn(OPEN_WITHIN);
  expect(events).toEqual(["closed"]);
});

test.each([
  [closeCodes.Deleted, "deleted"],
  [closeCodes.AccessLost, "access-lost"],
  [closeCodes.RejectedTooOften, "rejected"],
] as const)("close code %i ends it", async (code, why) => {
  const { room, events } = connected();
  await room.clock.turn(100);
  room.cut(code);
  await room.clock.turn(60_000);
  expect(events).toEqual(["up", "session:hello", why]);
  expect(room.clock.waiting).toBe(0);
});

test.each([closeCodes.InternalError, closeCodes.Restart, closeCodes.TooSlow])(
  "close code %i does not",
  async (code) => {
    const { room } = connected();
    await room.clock.turn(100);
    room.cut(code);
    await room.clock.turn(1_000);
    expect(room.online).toBe(1);
  },
);

test("after sending too fast it stays away for a while", async () => {
  const { room } = connected();
  await room.clock.turn(100);
  room.cut(closeCodes.RateExceeded);
  await room.clock.turn(CALM_DOWN - 100);
  expect(room.online).toBe(0);
  await room.clock.turn(200);
  expect(room.online).toBe(1);
});

test.each([
  [401, "signed-out"],
  [403, "access-lost"],
  [404, "deleted"],
] as const)("a socket refused with %i ends it", async (status, why) => {
  const { room, events } = connected();
  room.refuses = status;
  await room.clock.turn(60_000);
  expect(events).toEqual(["closed", why]);
});

test("an answer to why a socket was refused is too late once there is another attempt", async () => {
  const { room, events, connection } = connected();
  room.refuses = 401;
  await room.clock.turn(7);
  room.refuses = null;
  connection.connect();
  room.refuses = 401;
  await room.clock.turn(4);
  room.refuses = null;
  await room.clock.turn(100);
  expect(events).toEqual(["closed", "up", "session:hello"]);
});

test("a socket refused for a passing reason is tried again", async () => {
  const { room } = connected();
  room.refuses = 503;
  await room.clock.turn(20_000);
  room.refuses = null;
  await room.clock.turn(10_100);
  expect(room.online).toBe(1);
});

test("nothing happens after it was abandoned", async () => {
  const { room, events, connection } = connected();
  await room.clock.turn(100);
  connection.abandon();
  await room.clock.turn(60_000);
  expect(events).toEqual(["up", "session:hello"]);
  expect(room.clock.waiting).toBe(0);
});
