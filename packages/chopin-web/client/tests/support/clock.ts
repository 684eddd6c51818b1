/** A clock that tests turn by hand. */

import type { Cancel, Clock } from "../../src/sync/clock";

export class TurnedClock implements Clock {
  private time = 0;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  unix(): number {
    return Math.floor(this.time / 1000);
  }

  after(milliseconds: number, run: () => void): Cancel {
    const timer = { at: this.time + milliseconds, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** Let time pass, run what falls due in its order, and let promises settle in between. */
  async turn(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    await settled();
    for (;;) {
      const due = this.timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((other) => other !== due);
      this.time = Math.max(this.time, due.at);
      due.run();
      await settled();
    }
    this.time = end;
  }

  get waiting(): number {
    return this.timers.length;
  }
}

async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await Promise.resolve();
}
