/** Brings what is in an outbox to the server: gathers, sends one parcel at a time, and insists on an answer. */

import { Backoff } from "./backoff";
import type { Cancel, Clock } from "./clock";
import type { Outbox, Parcel } from "./outbox";

/** Keystrokes within this time travel together. */
export const GATHER = 8;
/** An acknowledgement that takes longer is asked for again. */
export const ACK_WITHIN = 15_000;
export const PAUSE = { first: 1_000, most: 10_000 };
/** One refusal may pass unnoticed, as a blip does; from the second on the person is told. */
const WORTH_A_WORD = 2;

export interface DeliveryPort {
  clock: Clock;
  random(): number;
  /** Whether the server would take something now. */
  ready(): boolean;
  send(parcel: Parcel): void;
  /** There is an update that the server would never take. */
  tooLarge(): void;
}

export class Delivery {
  private readonly port: DeliveryPort;
  private readonly pauses: Backoff;
  private outbox: Outbox | null = null;
  private largest = 0;
  private gathering: Cancel | null = null;
  private pause: Cancel | null = null;
  private ackDue: Cancel | null = null;
  private refusals = 0;

  constructor(port: DeliveryPort) {
    this.port = port;
    this.pauses = new Backoff(port.random, PAUSE);
  }

  /** From now on this outbox; whatever of it was in flight will not be answered any more. */
  carry(outbox: Outbox, largest: number): void {
    this.halt();
    this.outbox = outbox;
    this.largest = largest;
    outbox.recall();
    this.trust();
    this.flush();
  }

  /** Whether the server keeps refusing what it gets. */
  get refusing(): boolean {
    return this.refusals >= WORTH_A_WORD;
  }

  gather(): void {
    this.gathering ??= this.port.clock.after(GATHER, () => this.flush());
  }

  /** Send what waits, unless something is under way: nothing that builds on an update can overtake its refusal. */
  flush(): void {
    this.gathering?.();
    this.gathering = null;
    if (this.outbox === null || this.outbox.inFlight > 0 || this.pause !== null || !this.port.ready()) return;
    const parcel = this.outbox.take();
    if (parcel === null) return;
    if (parcel.update.length > this.largest) {
      this.port.tooLarge();
      return;
    }
    this.ackDue = this.port.clock.after(ACK_WITHIN, () => this.sendAgain());
    this.port.send(parcel);
  }

  acknowledged(id: string): void {
    if (this.outbox?.acknowledge(id) !== true) return;
    this.ackDue?.();
    this.trust();
    this.gather();
  }

  /** Some refusals pass by themselves: too fast, storage away. What was refused stays here and goes out again. */
  refused(id: string): void {
    if (this.outbox?.putBack(id) !== true) return;
    this.ackDue?.();
    this.refusals += 1;
    this.pause = this.port.clock.after(this.pauses.next(), () => {
      this.pause = null;
      this.flush();
    });
  }

  /** The connection is gone: wait for `carry`. */
  halt(): void {
    for (const cancel of [this.gathering, this.pause, this.ackDue]) cancel?.();
    this.gathering = null;
    this.pause = null;
  }

  /** The server may have it or not: it takes in nothing twice. */
  private sendAgain(): void {
    this.outbox?.recall();
    this.flush();
  }

  private trust(): void {
    this.pauses.reset();
    this.refusals = 0;
  }
}
