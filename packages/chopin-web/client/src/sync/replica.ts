/** This browser's copy of the document in one epoch, with what of it is not acknowledged yet. */

import * as Y from "yjs";
import type { Clock } from "./clock";
import { Outbox } from "./outbox";
import { Presence } from "./presence";

/** The name of the one shared text in a document. */
const ROOT = "source";

export interface ReplicaPort {
  clock: Clock;
  newId(): string;
  /** There is something new in the outbox. */
  edited(): void;
  sendPresence(update: Uint8Array): void;
}

export class Replica {
  readonly epoch: string;
  readonly text: Y.Text;
  readonly presence: Presence;
  readonly outbox: Outbox;
  private readonly doc: Y.Doc;

  /** A document of its own, with a client id of its own: histories of two epochs must never meet. */
  constructor(epoch: string, largestUpdate: number, port: ReplicaPort) {
    this.epoch = epoch;
    this.doc = new Y.Doc();
    this.text = this.doc.getText(ROOT);
    this.outbox = new Outbox({ newId: () => port.newId(), merge: Y.mergeUpdates }, largestUpdate);
    this.presence = new Presence(this.doc, { clock: port.clock, send: (update) => port.sendPresence(update) });
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === this) return;
      this.outbox.add(update);
      port.edited();
    });
  }

  /** Take in what the server sent. False when this copy is of no use afterwards. */
  apply(update: Uint8Array): boolean {
    try {
      Y.applyUpdate(this.doc, update, this);
      return true;
    } catch {
      return false;
    }
  }

  /** Something that arrived builds on something that didn't. */
  get incomplete(): boolean {
    return this.doc.store.pendingStructs !== null || this.doc.store.pendingDs !== null;
  }

  get vector(): Uint8Array {
    return Y.encodeStateVector(this.doc);
  }

  destroy(): void {
    this.presence.destroy();
    this.doc.destroy();
  }
}
