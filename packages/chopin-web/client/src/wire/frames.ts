/** The frames of a document's socket that this client sends and understands. */

import { toBase64 } from "./base64";
import { bytes, flag, list, Misshapen, number, optional, type Read, record, text } from "./shape";

const member = record({ handle: text, client: text });
export type Member = Read<typeof member>;

const metadata = { title: text, slug: text, updatedAt: text, archivedAt: optional(text) };

const limits = record({ source: number, update: number });
export type Limits = Read<typeof limits>;

/** Of each kind the fields that are used here; the others may come and go. */
const readers = {
  "session:hello": record({ ...metadata, you: member, members: list(member), canEdit: flag }),
  "session:presence": record({ members: list(member) }),
  "session:channel": record(metadata),
  "session:access": record({ canEdit: flag }),
  "session:deleted": record({}),
  "session:error": record({ message: text, rid: optional(text) }),
  "session:ping": record({ rid: optional(text) }),
  "plan:open": record({
    rid: optional(text),
    epoch: text,
    update: bytes,
    awareness: optional(bytes),
    limits,
  }),
  "plan:ack": record({ epoch: text, id: text }),
  "plan:update": record({ epoch: text, update: bytes }),
  "plan:awareness": record({ epoch: text, update: bytes }),
  "plan:reset": record({ epoch: text, reason: text }),
} as const;

type Readers = typeof readers;
export type ServerFrame = { [K in keyof Readers]: { kind: K } & Read<Readers[K]> }[keyof Readers];

/** A frame as a value; null for kinds this client does not know and for anything that is no frame. */
export function readFrame(message: string): ServerFrame | null {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return null;
  }
  const kind = (value as { kind?: unknown } | null)?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(readers, kind)) return null;
  try {
    return { kind, ...readers[kind as keyof Readers](value) } as ServerFrame;
  } catch (error) {
    if (error instanceof Misshapen) return null;
    throw error;
  }
}

export type ClientFrame =
  | { kind: "session:ping"; rid: string }
  | { kind: "plan:open"; rid: string; epoch?: string; vector?: Uint8Array }
  | { kind: "plan:update"; rid: string; epoch: string; id: string; update: Uint8Array }
  | { kind: "plan:awareness"; epoch: string; update: Uint8Array }
  | { kind: "plan:close" };

/** `ts` is in Unix seconds, as everywhere on this wire. */
export function writeFrame(frame: ClientFrame, ts: number): string {
  const fields = Object.entries(frame).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? toBase64(value) : value,
  ]);
  return JSON.stringify({ ...Object.fromEntries(fields), ts });
}
