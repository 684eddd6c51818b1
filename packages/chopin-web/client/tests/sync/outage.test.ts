import { expect, test } from "vitest";
import { OFFLINE_AFTER, Outage } from "../../src/sync/outage";
import { TurnedClock } from "../support/clock";

function outage() {
  const clock = new TurnedClock();
  const seen: string[] = [];
  const subject: Outage = new Outage(clock, () => seen.push(subject.link));
  return { clock, seen, subject };
}

test("a blip says nothing that could be shown", async () => {
  const { clock, seen, subject } = outage();
  subject.begin();
  await clock.turn(1_400);
  subject.end();
  await clock.turn(OFFLINE_AFTER);
  expect(seen).toEqual(["blip", "online"]);
});

test("a longer outage is reconnecting first and offline later", async () => {
  const { clock, seen, subject } = outage();
  subject.begin();
  await clock.turn(OFFLINE_AFTER);
  expect(seen).toEqual(["blip", "reconnecting", "offline"]);
});

test("failed attempts do not make an outage look younger", async () => {
  const { clock, subject } = outage();
  subject.begin();
  await clock.turn(OFFLINE_AFTER - 100);
  subject.begin();
  await clock.turn(100);
  expect(subject.link).toBe("offline");
});

test("an outage that is noticed late is offline at once", () => {
  const { clock, subject } = outage();
  subject.begin();
  subject.beginLate();
  expect(subject.link).toBe("offline");
  expect(clock.waiting).toBe(0);
});
