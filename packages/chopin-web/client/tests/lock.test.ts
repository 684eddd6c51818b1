import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");

test("the lock file holds no address, of a registry or of anything else", () => {
  expect(lock).not.toMatch(/https?:\/\//);
  expect(lock).not.toContain('"resolved"');
});

test("every locked package is pinned by its hash", () => {
  const { packages } = JSON.parse(lock) as { packages: Record<string, { integrity?: string; link?: boolean }> };
  const loose = Object.entries(packages).filter(([path, { integrity }]) => path !== "" && integrity === undefined);
  expect(loose.map(([path]) => path)).toEqual([]);
});
