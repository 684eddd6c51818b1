/** One open document: keeps this browser's copy level with the server's and says truthfully how far that has got. */

import type { Limits, ServerFrame } from "../wire/frames";
import { Backoff } from "./backoff";
import type { Cancel } from "./clock";
import { Connection, type Down, type Ended, type Surroundings } from "./connection";
import { Delivery, PAUSE } from "./delivery";
import { type Metadata, newer } from "./metadata";
import { Outage } from "./outage";
import { Replica } from "./replica";
import { isEditable, type Status, same, saveOf, type Unsent } from "./status";

/** Until the server has said its own. */
const LIMITS: Limits = { source: 256 * 1024, update: 512 * 1024 };

export class Provider {
  private readonly around: Surroundings;
  private readonly connection: Connection;
  private readonly outage: Outage;
  private readonly delivery: Delivery;
  private readonly reopenings: Backoff;
  private readonly listeners = new Set<() => void>();

  private replica: Replica | null = null;
  /** The replica must be replaced before it can be used again. */
  private stale = false;
  /** The text of a stale replica that held something unacknowledged, until it is known whether it was lost. */
  private endangered: string | null = null;
  private limits = LIMITS;
  /** The document was opened on the present connection. */
  private level = false;
  private opening: string | null = null;
  private reopen: Cancel | null = null;

  private ended: Ended | null = null;
  private metadata: Metadata | null = null;
  private canEdit = false;
  private you: Status["you"] = null;
  private members: Status["members"] = [];
  private unsent: readonly Unsent[] = [];
  private status: Status;

  constructor(around: Surroundings) {
    this.around = around;
    this.reopenings = new Backoff(around.random, PAUSE);
    this.outage = new Outage(around.clock, () => this.changed());
    this.connection = new Connection(around, {
      up: () => this.open(),
      frame: (frame) => this.receive(frame),
      down: (how) => this.lost(how),
      ended: (why) => this.stop(why),
    });
    this.delivery = new Delivery({
      clock: around.clock,
      random: around.random,
      ready: () => this.level && this.canEdit,
      send: ({ id, update }) => {
        const { epoch } = this.replica as Replica;
        this.connection.send({ kind: "plan:update", rid: id, epoch, id, update });
      },
      tooLarge: () => this.discard(),
    });
    this.status = this.read();
    this.start();
  }

  /** The present state; the same object until something in it changes. */
  getStatus = (): Status => this.status;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** News about the document that came another way; older news than is known is ignored. */
  learn(news: Metadata): void {
    this.metadata = newer(this.metadata, news);
    this.changed();
  }

  /** Try again after the connection had ended, with everything that is still unsent. */
  resume(): void {
    if (this.ended === null || this.ended === "deleted") return;
    this.ended = null;
    this.start();
  }

  hurry(): void {
    if (this.ended === null) this.connection.hurry();
  }

  doubt(): void {
    this.connection.doubt();
  }

  /** Send now what is being gathered, for instance because the page is about to go. */
  flush(): void {
    this.delivery.flush();
  }

  dismissUnsent(id: string): void {
    this.unsent = this.unsent.filter((entry) => entry.id !== id);
    this.changed();
  }

  destroy(): void {
    this.connection.abandon();
    this.outage.stop();
    this.unlevel();
    this.listeners.clear();
    this.replica?.destroy();
  }

  private start(): void {
    this.outage.begin();
    this.connection.connect();
    this.changed();
  }

  private open(): void {
    if (!this.connection.up) return;
    this.opening = this.around.newId();
    const { replica } = this;
    const known = replica === null || this.stale ? {} : { epoch: replica.epoch, vector: replica.vector };
    this.connection.send({ kind: "plan:open", rid: this.opening, ...known });
  }

  private openLater(): void {
    this.opening = null;
    this.reopen?.();
    this.reopen = this.around.clock.after(this.reopenings.next(), () => this.open());
  }

  private receive(frame: ServerFrame): void {
    switch (frame.kind) {
      case "session:hello":
        this.you = frame.you;
        this.members = frame.members;
        this.canEdit = frame.canEdit;
        this.learn(frame);
        break;
      case "session:presence":
        this.members = frame.members;
        break;
      case "session:channel":
        this.learn(frame);
        break;
      case "session:access":
        this.canEdit = frame.canEdit;
        this.flush();
        break;
      case "session:deleted":
        this.connection.end("deleted");
        break;
      case "session:error":
        if (frame.rid === undefined) break;
        if (frame.rid === this.opening) this.openLater();
        else this.delivery.refused(frame.rid);
        break;
      case "plan:open":
        if (frame.rid === this.opening) this.opened(frame);
        break;
      case "plan:ack":
        this.delivery.acknowledged(frame.id);
        break;
      case "plan:update":
        if (this.follows(frame.epoch)) this.take(frame.update);
        break;
      case "plan:awareness":
        if (this.follows(frame.epoch)) this.replica?.presence.receive(frame.update);
        break;
      case "plan:reset":
        this.discard();
        break;
    }
    this.changed();
  }

  private follows(epoch: string): boolean {
    return this.replica?.epoch === epoch && !this.stale && this.level;
  }

  private opened(frame: Extract<ServerFrame, { kind: "plan:open" }>): void {
    this.limits = frame.limits;
    if (this.replica?.epoch !== frame.epoch || this.stale) this.replace(frame.epoch);
    const replica = this.replica as Replica;
    if (!replica.apply(frame.update)) {
      this.forsake();
      this.openLater();
      return;
    }
    this.opening = null;
    this.reopenings.reset();
    this.settleUnsent(replica);
    if (this.level) return;
    this.level = true;
    replica.presence.startOver(frame.awareness);
    this.outage.end();
    this.connection.settled();
    this.delivery.carry(replica.outbox, this.limits.update);
  }

  private take(update: Uint8Array): void {
    const replica = this.replica as Replica;
    if (!replica.apply(update)) this.discard();
    else if (replica.incomplete && this.opening === null) this.open();
  }

  private lost(how: Down): void {
    this.unlevel();
    if (how === "too-big") this.forsake();
    if (how === "silent") this.outage.beginLate();
    else this.outage.begin();
    this.changed();
  }

  private stop(why: Ended): void {
    this.unlevel();
    this.ended = why;
    this.outage.end();
    if (why === "deleted" || why === "rejected") {
      this.forsake();
      this.settleUnsent(null);
    }
    this.changed();
  }

  private unlevel(): void {
    this.level = false;
    this.opening = null;
    this.reopen?.();
    this.delivery.halt();
  }

  /** This copy is of no use any more: get the document anew. */
  private discard(): void {
    this.forsake();
    this.unlevel();
    this.outage.begin();
    this.open();
  }

  private forsake(): void {
    if (this.replica === null || this.stale) return;
    this.stale = true;
    if (!this.replica.outbox.empty) this.endangered = this.replica.text.toString();
  }

  private replace(epoch: string): void {
    this.forsake();
    this.replica?.destroy();
    this.stale = false;
    this.replica = new Replica(epoch, this.limits.update, {
      clock: this.around.clock,
      newId: () => this.around.newId(),
      edited: () => {
        this.delivery.gather();
        this.changed();
      },
      sendPresence: (update) => {
        if (this.level) this.connection.send({ kind: "plan:awareness", epoch, update });
      },
    });
  }

  /** Unacknowledged edits may have arrived all the same; only what the document doesn't show was lost. */
  private settleUnsent(replica: Replica | null): void {
    const text = this.endangered;
    this.endangered = null;
    if (text === null || text === replica?.text.toString()) return;
    this.unsent = [...this.unsent, { id: this.around.newId(), text }];
  }

  private changed(): void {
    const status = this.read();
    if (same(status, this.status)) return;
    this.status = status;
    for (const listener of this.listeners) listener();
  }

  private read(): Status {
    const { link } = this.outage;
    const { ended, replica, metadata, canEdit, limits, you, members, unsent } = this;
    const settled = replica === null || (this.stale ? this.endangered === null : replica.outbox.empty);
    const reachable = ended === null && link !== "offline" && canEdit && !this.delivery.refusing;
    const usable = replica !== null && !this.stale;
    return {
      link,
      ended,
      save: saveOf(settled, reachable),
      replica,
      metadata,
      canEdit,
      editable: isEditable({ link, ended, canEdit }, usable),
      limits,
      you,
      members,
      unsent,
    };
  }
}
