/** What a person is told about the connection, and after how long. */

import type { Cancel, Clock } from "./clock";

/** `blip`: it is gone, but not for so long that it would be worth a word. */
export type Link = "online" | "blip" | "reconnecting" | "offline";

export const NOTICE_AFTER = 1_500;
export const OFFLINE_AFTER = 8_000;

export class Outage {
  private readonly clock: Clock;
  private readonly changed: () => void;
  private cancels: Cancel[] = [];
  private state: Link = "online";

  constructor(clock: Clock, changed: () => void) {
    this.clock = clock;
    this.changed = changed;
  }

  get link(): Link {
    return this.state;
  }

  /** The connection is gone; a second call during the same outage changes nothing. */
  begin(): void {
    if (this.state !== "online") return;
    this.cancels = [
      this.clock.after(NOTICE_AFTER, () => this.become("reconnecting")),
      this.clock.after(OFFLINE_AFTER, () => this.become("offline")),
    ];
    this.become("blip");
  }

  /** The connection has been gone for a while already when this is noticed. */
  beginLate(): void {
    this.stop();
    this.become("offline");
  }

  end(): void {
    this.stop();
    this.become("online");
  }

  stop(): void {
    for (const cancel of this.cancels) cancel();
    this.cancels = [];
  }

  private become(state: Link): void {
    if (this.state === state) return;
    this.state = state;
    this.changed();
  }
}
