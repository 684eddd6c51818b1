import { expect, test } from "vitest";
import { sentenceFor } from "../../src/components/ConnectionNotice";
import { wordFor } from "../../src/components/SaveState";
import { timeAgo } from "../../src/components/TimeAgo";
import type { Link } from "../../src/sync/outage";
import type { Replica } from "../../src/sync/replica";
import type { Save } from "../../src/sync/status";

const replica = {} as Replica;

test.each<[Link, Save, string]>([
  ["online", "saved", "saved"],
  ["online", "saving", "saving"],
  ["online", "held", "held"],
  ["blip", "saved", "saved"],
  ["blip", "saving", "saving"],
  ["reconnecting", "saved", "reconnecting"],
  ["reconnecting", "saving", "reconnecting"],
  ["offline", "saved", "offline"],
  ["offline", "held", "offline"],
])("%s and %s is shown as %s", (link, save, word) => {
  expect(wordFor({ replica, link, save })).toBe(word);
});

test("a document that is not open yet is not called saved", () => {
  expect(wordFor({ replica: null, link: "blip", save: "saved" })).toBe("opening");
});

test("nothing is said while all is well, nor during a blip", () => {
  expect(sentenceFor({ link: "online", save: "saving", canEdit: true })).toBe("");
  expect(sentenceFor({ link: "blip", save: "saving", canEdit: true })).toBe("");
});

test("changes are promised to be kept only where there are some", () => {
  expect(sentenceFor({ link: "offline", save: "held", canEdit: true })).toContain("changes are kept");
  expect(sentenceFor({ link: "offline", save: "saved", canEdit: true })).not.toContain("changes");
});

test.each([
  ["2026-11-30T09:59:30Z", "just now"],
  ["2026-11-30T09:58:00Z", "2 minutes ago"],
  ["2026-11-30T07:00:00Z", "3 hours ago"],
  ["2026-11-29T09:00:00Z", "yesterday"],
  ["2026-11-30T10:00:05Z", "just now"],
])("%s is %s", (instant, words) => {
  expect(timeAgo(new Date(instant), new Date("2026-11-30T10:00:00Z"))).toBe(words);
});
