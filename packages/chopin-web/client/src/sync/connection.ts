/** One lasting connection made of many sockets: opens, listens for silence, and tries again. */

import { closeCodes } from "../wire/closeCodes";
import { type ClientFrame, readFrame, type ServerFrame, writeFrame } from "../wire/frames";
import type { OpenSocket, Probe, SocketHandle } from "../wire/socket";
import { Backoff } from "./backoff";
import type { Cancel, Clock } from "./clock";
import { Heartbeat } from "./heartbeat";

export const RETRY = { first: 500, most: 10_000 };
export const OPEN_WITHIN = 10_000;
/** After being cut off for sending too fast, coming straight back would be more of the same. */
export const CALM_DOWN = 5_000;

/** Why no further attempt follows by itself. */
export type Ended = "signed-out" | "access-lost" | "deleted" | "rejected";

const ENDS: Record<number, Ended> = {
  [closeCodes.Deleted]: "deleted",
  [closeCodes.AccessLost]: "access-lost",
  [closeCodes.RejectedTooOften]: "rejected",
};

/** `silent`: the other side has not answered for as long as a heartbeat takes. */
export type Down = "closed" | "silent" | "too-big";

export interface ConnectionEvents {
  up(): void;
  frame(frame: ServerFrame): void;
  /** The connection is gone; the next attempt follows by itself. */
  down(how: Down): void;
  ended(why: Ended): void;
}

export interface Surroundings {
  clock: Clock;
  openSocket: OpenSocket;
  probe: Probe;
  random(): number;
  newId(): string;
}

export class Connection {
  private readonly around: Surroundings;
  private readonly events: ConnectionEvents;
  private readonly backoff: Backoff;
  private readonly heartbeat: Heartbeat;
  private socket: SocketHandle | null = null;
  private isUp = false;
  private cancel: Cancel | null = null;
  /** Tells the attempt that counts from those that were given up. */
  private attempt = 0;

  constructor(around: Surroundings, events: ConnectionEvents) {
    this.around = around;
    this.events = events;
    this.backoff = new Backoff(around.random, RETRY);
    this.heartbeat = new Heartbeat(around.clock, {
      ask: () => {
        const rid = around.newId();
        this.send({ kind: "session:ping", rid });
        return rid;
      },
      dead: () => this.lose("silent"),
    });
  }

  get up(): boolean {
    return this.isUp;
  }

  connect(): void {
    this.abandon();
    const attempt = this.attempt;
    const current = (run: () => void) => () => {
      if (attempt === this.attempt) run();
    };
    this.cancel = this.around.clock.after(OPEN_WITHIN, () => this.lose("closed"));
    this.socket = this.around.openSocket({
      opened: current(() => {
        this.cancel?.();
        this.isUp = true;
        this.heartbeat.start();
        this.events.up();
      }),
      received: (message) => {
        if (attempt === this.attempt) this.receive(message);
      },
      closed: (code) => {
        if (attempt === this.attempt) this.closed(code);
      },
    });
  }

  send(frame: ClientFrame): void {
    if (this.isUp) this.socket?.send(writeFrame(frame, this.around.clock.unix()));
  }

  /** The connection has proved useful: the next loss is a new one. */
  settled(): void {
    this.backoff.reset();
  }

  /** The network may be back, or the page in front again: try at once, or ask at once whether this still works. */
  hurry(): void {
    if (this.isUp) this.heartbeat.beat();
    else this.connect();
  }

  /** Ask at once whether the other side still hears us. */
  doubt(): void {
    if (this.isUp) this.heartbeat.beat();
  }

  end(why: Ended): void {
    this.abandon();
    this.events.ended(why);
  }

  /** Let go without a word to anybody. */
  abandon(): void {
    this.attempt += 1;
    this.isUp = false;
    this.heartbeat.stop();
    this.cancel?.();
    this.cancel = null;
    this.socket?.close();
    this.socket = null;
  }

  private receive(message: string): void {
    const frame = readFrame(message);
    if (frame === null) return;
    if (frame.kind === "session:ping") this.heartbeat.answered(frame.rid);
    else this.events.frame(frame);
  }

  private closed(code: number): void {
    const ended = ENDS[code];
    if (ended !== undefined) this.end(ended);
    else if (code === closeCodes.RateExceeded) this.lose("closed", CALM_DOWN);
    else if (code === closeCodes.MessageTooBig) this.lose("too-big");
    else if (this.isUp) this.lose("closed");
    else void this.refused();
  }

  private lose(how: Down, atLeast = 0): void {
    this.abandon();
    this.cancel = this.around.clock.after(Math.max(atLeast, this.backoff.next()), () => this.connect());
    this.events.down(how);
  }

  /** Browsers don't say why a socket was refused, so the same question is asked again as a plain request. */
  private async refused(): Promise<void> {
    this.abandon();
    const attempt = this.attempt;
    this.events.down("closed");
    const status = await this.around.probe();
    if (attempt !== this.attempt) return;
    if (status === 401) this.end("signed-out");
    else if (status === 403) this.end("access-lost");
    else if (status === 400 || status === 404) this.end("deleted");
    else this.lose("closed");
  }
}
