import { expect, test } from "vitest";
import { colourOf, initials, peopleOf } from "../src/people";

const you = { handle: "frederic", client: "c2" };
const members = [{ handle: "george", client: "c1" }, you, { handle: "george", client: "c3" }];

test("a person with two tabs is one person, and you come first", () => {
  expect(peopleOf(members, you)).toEqual([
    { handle: "frederic", tabs: 1, isYou: true },
    { handle: "george", tabs: 2, isYou: false },
  ]);
});

test("closing one of two tabs leaves the person there", () => {
  expect(peopleOf(members.slice(1), you).map(({ handle }) => handle)).toEqual(["frederic", "george"]);
});

test("a person has the same colour everywhere", () => {
  expect(colourOf("George")).toBe(colourOf("george"));
  expect(colourOf("george")).toMatch(/^#[0-9a-f]{6}$/);
});

test.each([
  ["frederic", "F"],
  ["aurore-dupin", "AD"],
  ["履歴", "履"],
  ["🎹", "🎹"],
])("%s is abbreviated", (handle, letters) => {
  expect(initials(handle)).toBe(letters);
});
