/** Asking the other side now and then whether it still hears us, since a dead connection doesn't say so itself. */

import type { Cancel, Clock } from "./clock";

export const BEAT_EVERY = 10_000;
export const ANSWER_WITHIN = 5_000;

export interface HeartbeatPort {
  ask(): string;
  dead(): void;
}

export class Heartbeat {
  private readonly clock: Clock;
  private readonly port: HeartbeatPort;
  private open: string | null = null;
  private cancel: Cancel | null = null;

  constructor(clock: Clock, port: HeartbeatPort) {
    this.clock = clock;
    this.port = port;
  }

  start(): void {
    this.stop();
    this.cancel = this.clock.after(BEAT_EVERY, () => this.beat());
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
    this.open = null;
  }

  /** Ask now; an answer that is still awaited keeps its own deadline. */
  beat(): void {
    if (this.open !== null) return;
    this.cancel?.();
    this.open = this.port.ask();
    this.cancel = this.clock.after(ANSWER_WITHIN, () => {
      this.stop();
      this.port.dead();
    });
  }

  answered(id: string | undefined): void {
    if (this.open !== null && id === this.open) this.start();
  }
}
