import { expect, test } from "vitest";
import { newer } from "../../src/sync/metadata";

const known = { title: "New", slug: "new", updatedAt: "2026-11-30T10:00:00.000500Z" };

test("an answer from before the present state changes nothing", () => {
  expect(newer(known, { title: "Old", slug: "old", updatedAt: "2026-11-30T10:00:00.000499Z" })).toBe(known);
});

test("later news replaces all of it, an archive mark that is gone too", () => {
  const archived = { ...known, archivedAt: "2026-11-30T10:00:00.0005Z" };
  const restored = { title: "New", slug: "new", updatedAt: "2026-11-30T10:00:01+00:00" };
  expect(newer(archived, restored)).toEqual(restored);
});

test("the same instant is taken as news", () => {
  expect(newer(known, { ...known, title: "Same" }).title).toBe("Same");
});
