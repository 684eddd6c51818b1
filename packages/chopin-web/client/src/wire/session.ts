/** Who is signed in here. */

import { ask } from "./http";
import { type Read, record, text } from "./shape";

const session = record({ person: record({ id: text, login: text }), mode: text });
export type Session = Read<typeof session>;

export async function readSession(signal?: AbortSignal): Promise<Session> {
  return (await ask("/api/session", session, signal === undefined ? {} : { signal })).value;
}

/** Whether a refusal for want of a session says that signing in goes through GitHub. */
export function signsInWithGitHub(body: unknown): boolean {
  return (body as { mode?: unknown } | null | undefined)?.mode === "hosted";
}
