import { afterEach, expect, test, vi } from "vitest";
import { listChannels, renameChannel } from "../../src/wire/channels";
import { ask, Refusal } from "../../src/wire/http";
import { record, text } from "../../src/wire/shape";

afterEach(() => vi.unstubAllGlobals());

const named = record({ name: text });

function answering(response: () => Response | Promise<Response>) {
  const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>(async () => response());
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

async function refusalOf(asked: Promise<unknown>): Promise<Refusal> {
  const error = await asked.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

test("a refusal carries the server's own sentence", async () => {
  answering(() => Response.json({ error: "Another document has this title." }, { status: 409 }));
  const refusal = await refusalOf(ask("/api/x", named));
  expect([refusal.status, refusal.message, refusal.temporary]).toEqual([
    409,
    "Another document has this title.",
    false,
  ]);
});

test.each([503, 500, 429])(
  "status %i may pass by itself, and has a sentence although the server sent none",
  async (status) => {
    answering(() => new Response("<html>", { status }));
    const refusal = await refusalOf(ask("/api/x", named));
    expect(refusal.temporary).toBe(true);
    expect(refusal.message).not.toBe("");
  },
);

test("a server that cannot be reached is a passing refusal", async () => {
  answering(() => Promise.reject(new TypeError("network")));
  expect((await refusalOf(ask("/api/x", named))).status).toBe(0);
});

test("an answer of another shape is told as such", async () => {
  answering(() => Response.json({ name: 5 }));
  expect((await refusalOf(ask("/api/x", named))).status).toBe(-1);
});

test("an abandoned question is no refusal", async () => {
  const left = new AbortController();
  answering(() => {
    left.abort();
    return Response.json({ name: "late" });
  });
  await expect(ask("/api/x", named, { signal: left.signal })).rejects.not.toBeInstanceOf(Refusal);
});

test("names are part of a path, never a path of their own", async () => {
  const fetched = answering(() => Response.json({ error: "no" }, { status: 404 }));
  await refusalOf(listChannels({ owner: "a/b", repository: "..?", query: "x&y", cursor: "c=" }));
  expect(fetched.mock.calls[0]?.[0]).toBe("/api/repositories/a%2Fb/..%3F/channels?query=x%26y&cursor=c%3D");
});

test("a rename is a PATCH of the title", async () => {
  const fetched = answering(() => Response.json({ error: "no" }, { status: 403 }));
  await refusalOf(renameChannel("d1", "Nocturne"));
  expect(fetched.mock.calls[0]).toMatchObject(["/api/channels/d1", { method: "PATCH", body: '{"title":"Nocturne"}' }]);
});
