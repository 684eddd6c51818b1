/** Where everybody's caret is: awareness of one document, ours sent at most ten times a second. */

import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate, removeAwarenessStates } from "y-protocols/awareness";
import * as Y from "yjs";
import type { Cancel, Clock } from "./clock";

export const TELL_EVERY = 100;

export interface Caret {
  anchor: Y.RelativePosition;
  head: Y.RelativePosition;
}

export interface Peer extends Caret {
  client: number;
  name: string;
  colour: string;
}

export interface PresencePort {
  clock: Clock;
  send(update: Uint8Array): void;
}

const COLOUR = /^#[0-9a-f]{6}$/i;
const NAMELESS = { name: "Somebody", colour: "#475569" };
const LONGEST_NAME = 60;

interface AwarenessChange {
  added: number[];
  updated: number[];
  removed: number[];
}

export class Presence {
  private readonly awareness: Awareness;
  private readonly port: PresencePort;
  private toldAt = Number.NEGATIVE_INFINITY;
  private pending: Cancel | null = null;
  private gone = false;
  private readonly listeners = new Set<() => void>();

  constructor(doc: Y.Doc, port: PresencePort) {
    this.port = port;
    this.awareness = new Awareness(doc);
    this.awareness.setLocalState(null);
    this.awareness.on("update", ({ added, updated, removed }: AwarenessChange) => {
      // Also when somebody else speaks for us: the server takes away the caret of a connection it has given up, and the
      // new connection then has to show it again.
      const own = this.awareness.clientID;
      if (added.includes(own) || updated.includes(own) || removed.includes(own)) this.tell();
    });
    this.awareness.on("change", () => {
      for (const listener of this.listeners) listener();
    });
  }

  /** Show our caret; without one nobody sees us in the text. */
  show(user: { name: string; colour: string }, cursor: Caret | null): void {
    if (cursor === null && this.awareness.getLocalState() === null) return;
    this.awareness.setLocalState(cursor === null ? null : { user, cursor });
  }

  receive(update: Uint8Array): void {
    try {
      applyAwarenessUpdate(this.awareness, update, "remote");
    } catch {
      // Carets are a courtesy: what can't be read is not shown.
    }
  }

  /** On a new connection: everybody's carets come anew, and ours with a clock beyond the server's farewell to the old one. */
  startOver(everybody: Uint8Array | undefined): void {
    const others = [...this.awareness.getStates().keys()].filter((client) => client !== this.awareness.clientID);
    removeAwarenessStates(this.awareness, others, "remote");
    for (const client of others) this.awareness.meta.delete(client);
    if (everybody !== undefined) this.receive(everybody);
    const own = this.awareness.getLocalState();
    if (own !== null) {
      this.awareness.setLocalState(own);
      this.awareness.setLocalState(own);
    }
  }

  /** The others' carets that can be drawn; what a peer says about itself is checked here. */
  peers(): Peer[] {
    const peers: Peer[] = [];
    for (const [client, state] of this.awareness.getStates()) {
      const peer = client === this.awareness.clientID ? null : readPeer(client, state);
      if (peer !== null) peers.push(peer);
    }
    return peers;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  destroy(): void {
    this.gone = true;
    this.pending?.();
    this.listeners.clear();
    this.awareness.destroy();
  }

  private tell(): void {
    if (this.gone || this.pending !== null) return;
    const wait = Math.max(0, this.toldAt + TELL_EVERY - this.port.clock.now());
    this.pending = this.port.clock.after(wait, () => {
      this.pending = null;
      this.toldAt = this.port.clock.now();
      this.port.send(encodeAwarenessUpdate(this.awareness, [this.awareness.clientID]));
    });
  }
}

function readPeer(client: number, state: { [key: string]: unknown }): Peer | null {
  const cursor = state.cursor as { anchor?: unknown; head?: unknown } | null | undefined;
  const user = state.user as { name?: unknown; colour?: unknown } | null | undefined;
  if (typeof cursor?.anchor !== "object" || typeof cursor.head !== "object") return null;
  try {
    return {
      client,
      anchor: Y.createRelativePositionFromJSON(cursor.anchor),
      head: Y.createRelativePositionFromJSON(cursor.head),
      name: typeof user?.name === "string" ? user.name.slice(0, LONGEST_NAME) : NAMELESS.name,
      colour: typeof user?.colour === "string" && COLOUR.test(user.colour) ? user.colour : NAMELESS.colour,
    };
  } catch {
    return null;
  }
}
