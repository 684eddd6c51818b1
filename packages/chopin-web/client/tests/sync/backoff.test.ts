import { expect, test } from "vitest";
import { Backoff } from "../../src/sync/backoff";

const RANGE = { first: 500, most: 10_000 };

test("each wait may be twice as long as the one before, up to the most", () => {
  const backoff = new Backoff(() => 1, RANGE);
  expect(Array.from({ length: 7 }, () => backoff.next())).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test("chance takes away at most half of a wait", () => {
  const backoff = new Backoff(() => 0, RANGE);
  expect([backoff.next(), backoff.next()]).toEqual([250, 500]);
});

test("after a reset it starts over", () => {
  const backoff = new Backoff(() => 1, RANGE);
  backoff.next();
  backoff.next();
  backoff.reset();
  expect(backoff.next()).toBe(500);
});
