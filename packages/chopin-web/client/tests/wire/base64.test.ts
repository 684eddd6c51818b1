import { expect, test } from "vitest";
import { fromBase64, toBase64 } from "../../src/wire/base64";

test("half a mebibyte of every byte comes back as it was", () => {
  const bytes = Uint8Array.from({ length: 512 * 1024 }, (_, index) => (index * 7 + (index >> 8)) % 256);
  const text = toBase64(bytes);
  expect(text).toBe(Buffer.from(bytes).toString("base64"));
  expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
});

test.each([0, 1, 2, 3, 0x8000, 0x8001])("%i bytes come back as they were", (length) => {
  const bytes = new Uint8Array(length).fill(255);
  expect(Buffer.compare(fromBase64(toBase64(bytes)), bytes)).toBe(0);
});

test("what is no base64 is refused", () => {
  expect(() => fromBase64("é")).toThrow();
});
