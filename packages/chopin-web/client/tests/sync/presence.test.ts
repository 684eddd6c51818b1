import { afterEach, expect, test } from "vitest";
import * as Y from "yjs";
import { Presence, TELL_EVERY } from "../../src/sync/presence";
import { TurnedClock } from "../support/clock";

const open: Presence[] = [];
afterEach(() => {
  for (const presence of open.splice(0)) presence.destroy();
});

function present(clock = new TurnedClock()) {
  const doc = new Y.Doc();
  const text = doc.getText("source");
  text.insert(0, "Prelude");
  const sent: Uint8Array[] = [];
  const presence = new Presence(doc, { clock, send: (update) => sent.push(update) });
  open.push(presence);
  const at = (index: number) => {
    const position = Y.createRelativePositionFromTypeIndex(text, index);
    return { anchor: position, head: position };
  };
  return { clock, doc, sent, presence, at };
}

const george = { name: "george", colour: "#b03a78" };

test("one's own caret is never among the others", async () => {
  const { presence, at, sent, clock } = present();
  presence.show(george, at(1));
  await clock.turn(TELL_EVERY);
  for (const update of sent) presence.receive(update);
  expect(presence.peers()).toEqual([]);
});

test("others see a name, a colour and a place, until it is taken away", async () => {
  const one = present();
  const other = present();
  one.presence.show(george, one.at(3));
  await one.clock.turn(TELL_EVERY);
  for (const update of one.sent.splice(0)) other.presence.receive(update);
  expect(other.presence.peers()).toMatchObject([{ ...george, client: one.doc.clientID }]);
  one.presence.show(george, null);
  await one.clock.turn(TELL_EVERY);
  for (const update of one.sent.splice(0)) other.presence.receive(update);
  expect(other.presence.peers()).toEqual([]);
});

test("a moving caret is told at most ten times a second, its last place included", async () => {
  const one = present();
  const other = present();
  for (let step = 0; step < 100; step += 1) {
    one.presence.show(george, one.at(step % 7));
    await one.clock.turn(10);
  }
  one.presence.show(george, one.at(5));
  await one.clock.turn(TELL_EVERY);
  expect(one.sent.length).toBeLessThanOrEqual(12);
  expect(one.sent.length).toBeGreaterThan(8);
  for (const update of one.sent) other.presence.receive(update);
  expect(Y.compareRelativePositions(other.presence.peers()[0]?.head ?? null, one.at(5).head)).toBe(true);
});

test("when somebody else takes our caret away we show it again", async () => {
  const one = present();
  const other = present();
  one.presence.show(george, one.at(3));
  await one.clock.turn(TELL_EVERY);
  const [shown] = one.sent.splice(0);
  other.presence.receive(shown as Uint8Array);
  // What the server tells when it gives up the connection that showed it: the next clock, and nothing there.
  const gone = removal(shown as Uint8Array);
  other.presence.receive(gone);
  expect(other.presence.peers()).toEqual([]);
  one.presence.receive(gone);
  await one.clock.turn(TELL_EVERY);
  for (const update of one.sent) other.presence.receive(update);
  expect(other.presence.peers()).toHaveLength(1);
});

test("on a new connection those who left meanwhile are gone, and our caret is told anew", async () => {
  const one = present();
  const other = present();
  const third = present();
  for (const { presence, at, clock } of [other, third]) {
    presence.show(george, at(2));
    await clock.turn(TELL_EVERY);
  }
  for (const update of [...other.sent, ...third.sent]) one.presence.receive(update);
  one.presence.show(george, one.at(1));
  await one.clock.turn(TELL_EVERY);
  const before = one.sent.length;
  one.presence.startOver(other.sent.at(-1));
  await one.clock.turn(TELL_EVERY);
  expect(one.presence.peers().map(({ client }) => client)).toEqual([other.doc.clientID]);
  expect(one.sent.length).toBe(before + 1);
});

test("what a peer says about itself is not believed blindly", () => {
  const { presence } = present();
  const cursor = { anchor: { tname: "source" }, head: { tname: "source" } };
  const states = [
    { cursor, user: { name: "x".repeat(500), colour: "red; background: url(//elsewhere)" } },
    { cursor: { anchor: 5, head: null }, user: george },
    { cursor },
    "nonsense",
    {},
  ];
  for (const [index, state] of states.entries()) presence.receive(encode(index + 1, 1, state));
  presence.receive(Uint8Array.of(9, 9, 9));
  const peers = presence.peers();
  expect(peers.map(({ client }) => client)).toEqual([1, 3]);
  expect(peers.map(({ colour }) => colour)).toEqual(["#475569", "#475569"]);
  expect(peers[0]?.name).toHaveLength(60);
});

/** An awareness update of one state, as y-protocols writes it; every number here fits into seven bits or is a client id. */
function encode(client: number, clock: number, state: unknown): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(state));
  return Uint8Array.of(1, ...uint(client), ...uint(clock), ...uint(json.length), ...json);
}

function uint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...uint(Math.floor(value / 128))];
}

function removal(shown: Uint8Array): Uint8Array {
  const bytes = [...shown.subarray(1)];
  const number = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes.shift() ?? 0;
      value += (byte % 128) * shift;
      if (byte < 128) return value;
    }
  };
  const client = number();
  return encode(client, number() + 1, null);
}
