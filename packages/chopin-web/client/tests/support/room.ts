/** The other side of the wire: a room that keeps one document and can be told to misbehave. */

import * as Y from "yjs";
import type { Surroundings } from "../../src/sync/connection";
import { Provider } from "../../src/sync/provider";
import { fromBase64, toBase64 } from "../../src/wire/base64";
import type { SocketHandlers } from "../../src/wire/socket";
import { TurnedClock } from "./clock";

const DELAY = 5;

interface Line {
  handlers: SocketHandlers;
  open: boolean;
}

interface Sent {
  kind: string;
  rid: string;
  epoch?: string;
  vector?: string;
  id: string;
  update: string;
}

export class Room {
  readonly clock = new TurnedClock();
  readonly received: Sent[] = [];
  epoch = "first";
  doc = new Y.Doc();
  canEdit = true;
  title = "Nocturne";
  updatedAt = "2026-11-30T10:00:00Z";
  /** The status that a socket is refused with, and that a probe learns. */
  refuses: number | null = null;
  /** Nothing comes back, and nothing says that the line is dead. */
  mute = false;
  acknowledges = true;
  errs = false;
  /** Refuse the next update alone. */
  errsOnce = false;
  /** Updates that came without what they build on. */
  incomplete = 0;
  largestUpdate = 512 * 1024;
  private lines: Line[] = [];
  private ids = 0;

  constructor(text = "") {
    this.write(text);
  }

  get text(): string {
    return this.doc.getText("source").toString();
  }

  get online(): number {
    return this.lines.length;
  }

  updates(): Sent[] {
    return this.received.filter(({ kind }) => kind === "plan:update");
  }

  /** Another epoch: a new document with the same text, or another one. */
  rebuild(epoch: string, text = this.text): void {
    this.epoch = epoch;
    this.doc = new Y.Doc();
    this.write(text);
  }

  reset(reason = "rebuilt"): void {
    this.tell({ kind: "plan:reset", epoch: this.epoch, reason });
  }

  /** Somebody else types. */
  insert(at: number, text: string): void {
    const before = Y.encodeStateVector(this.doc);
    this.doc.getText("source").insert(at, text);
    this.tell({ kind: "plan:update", epoch: this.epoch, seq: 1, update: this.since(before) });
  }

  since(vector: Uint8Array): string {
    return toBase64(Y.encodeStateAsUpdate(this.doc, vector));
  }

  tell(frame: Record<string, unknown>): void {
    for (const line of this.lines) this.send(line, frame);
  }

  /** Close every socket from this side. */
  cut(code: number): void {
    for (const line of this.lines) this.clock.after(DELAY, () => line.handlers.closed(code));
    this.lines = [];
  }

  around(): Surroundings {
    return {
      clock: this.clock,
      openSocket: (handlers) => this.connect(handlers),
      probe: async () => {
        await new Promise<void>((answered) => this.clock.after(DELAY, answered));
        return this.refuses ?? 204;
      },
      random: () => 1,
      newId: () => {
        this.ids += 1;
        return `id-${this.ids}`;
      },
    };
  }

  private write(text: string): void {
    if (text !== "") this.doc.getText("source").insert(0, text);
  }

  private connect(handlers: SocketHandlers) {
    const line = { handlers, open: true };
    this.clock.after(DELAY, () => {
      if (this.mute || !line.open) return;
      if (this.refuses !== null) {
        handlers.closed(1006);
        return;
      }
      this.lines.push(line);
      handlers.opened();
      const you = { handle: "frederic", client: "c1" };
      const { title, updatedAt, canEdit } = this;
      const document = { channelId: "d1", title, slug: "nocturne", updatedAt, descriptionRevision: 0 };
      this.send(line, { kind: "session:hello", ...document, you, members: [you], canEdit, canManage: true });
    });
    return {
      send: (message: string) => {
        this.clock.after(DELAY, () => this.receive(line, JSON.parse(message) as Sent));
      },
      close: () => {
        line.open = false;
        this.lines = this.lines.filter((other) => other !== line);
      },
    };
  }

  private receive(line: Line, frame: Sent): void {
    if (this.mute || !this.lines.includes(line)) return;
    this.received.push(frame);
    const { kind, rid } = frame;
    if (kind === "session:ping") this.send(line, { kind, rid });
    else if (this.errs || (this.errsOnce && kind === "plan:update")) this.refuse(line, rid);
    else if (kind === "plan:open") this.open(line, frame);
    else if (kind === "plan:update" && frame.epoch === this.epoch) {
      Y.applyUpdate(this.doc, fromBase64(frame.update));
      if (this.doc.store.pendingStructs !== null) this.incomplete += 1;
      if (this.acknowledges) this.send(line, { kind: "plan:ack", rid, epoch: this.epoch, id: frame.id, seq: 1 });
    }
  }

  private refuse(line: Line, rid: string): void {
    this.errsOnce = false;
    this.send(line, { kind: "session:error", rid, message: "not now" });
  }

  private open(line: Line, { kind, rid, epoch, vector }: Sent): void {
    const known = epoch === this.epoch && vector !== undefined ? fromBase64(vector) : Uint8Array.of(0);
    this.send(line, {
      kind,
      rid,
      epoch: this.epoch,
      seq: 0,
      update: this.since(known),
      revision: 0,
      limits: { source: 262_144, update: this.largestUpdate, depth: 20 },
    });
  }

  private send(line: Line, frame: Record<string, unknown>): void {
    this.clock.after(DELAY, () => {
      if (!this.mute && line.open) line.handlers.received(JSON.stringify({ ...frame, ts: 0 }));
    });
  }
}

/** Somebody who has the document open; `type` is what the editor does. */
export class Writer {
  readonly provider: Provider;

  constructor(room: Room) {
    this.provider = new Provider(room.around());
  }

  get status() {
    return this.provider.getStatus();
  }

  get text(): string {
    return this.status.replica?.text.toString() ?? "";
  }

  type(text: string, at = this.text.length): void {
    this.status.replica?.text.insert(at, text);
  }
}
