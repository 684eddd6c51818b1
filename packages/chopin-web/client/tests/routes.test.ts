import { expect, test } from "vitest";
import { documentPath, moved, routeOf } from "../src/routes";

test.each([
  ["/", { page: "projects" }],
  ["/documents/nocturne/field-notes", { page: "documents", owner: "nocturne", repository: "field-notes" }],
  ["/documents/nocturne/field-notes/", { page: "documents", owner: "nocturne", repository: "field-notes" }],
  ["/repositories/nocturne/field-notes", { page: "documents", owner: "nocturne", repository: "field-notes" }],
  ["/documents/o/r/r%C3%A9sum%C3%A9", { page: "document", owner: "o", repository: "r", slug: "résumé" }],
  ["/channels/0b9c", { page: "channel", id: "0b9c" }],
  ["/documents/o", { page: "unknown" }],
  ["/documents/o/r/a/b", { page: "unknown" }],
  ["/documents/o/r/%E0%A4%A", { page: "unknown" }],
  ["/settings", { page: "unknown" }],
])("%s", (path, route) => {
  expect(routeOf(path)).toEqual(route);
});

test("a former address is replaced, with its query and fragment", () => {
  const address = { pathname: "/documents/o/r/old-name", search: "?view=plan", hash: "#later" };
  expect(moved(address, documentPath("o", "r", "new-name"))).toBe("/documents/o/r/new-name?view=plan#later");
});

test("the right address is left alone, however it is escaped", () => {
  const address = { pathname: "/documents/o/r/履歴書", search: "", hash: "#x" };
  expect(moved(address, documentPath("o", "r", "履歴書"))).toBeNull();
});
