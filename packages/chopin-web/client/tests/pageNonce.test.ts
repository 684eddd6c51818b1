import { expect, test } from "vitest";
import { filledIn } from "../src/pageNonce";

test("a page that no server filled in has no nonce", () => {
  expect([filledIn(undefined), filledIn(""), filledIn("__CSP_NONCE__")]).toEqual([null, null, null]);
});

test("a nonce is any word, also one that begins like the mark", () => {
  expect([filledIn("__alJKFMS1qpV"), filledIn("-_x")]).toEqual(["__alJKFMS1qpV", "-_x"]);
});
