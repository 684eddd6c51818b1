/** Local updates until the server has acknowledged them. */

export interface Parcel {
  id: string;
  update: Uint8Array;
}

export interface OutboxPort {
  newId(): string;
  merge(updates: Uint8Array[]): Uint8Array;
}

/** Merging is cheap for a few updates and not for thousands. */
const MOST_IN_A_PARCEL = 256;

export class Outbox {
  private readonly port: OutboxPort;
  private readonly largest: number;
  private waiting: Uint8Array[] = [];
  private readonly travelling = new Map<string, Uint8Array>();

  /** Updates are merged as long as the outcome stays within `largest` bytes. */
  constructor(port: OutboxPort, largest: number) {
    this.port = port;
    this.largest = largest;
  }

  /** Nothing is left that the server might not have. */
  get empty(): boolean {
    return this.waiting.length === 0 && this.travelling.size === 0;
  }

  get inFlight(): number {
    return this.travelling.size;
  }

  add(update: Uint8Array): void {
    this.waiting.push(update);
  }

  /** What to send next: as many waiting updates as fit into one, from now on in flight. Null when none waits. */
  take(): Parcel | null {
    let size = 0;
    let count = 0;
    for (const update of this.waiting.slice(0, MOST_IN_A_PARCEL)) {
      size += update.length;
      if (count > 0 && size > this.largest) break;
      count += 1;
    }
    const [first, ...rest] = this.waiting.splice(0, count);
    if (first === undefined) return null;
    const parcel = { id: this.port.newId(), update: rest.length === 0 ? first : this.port.merge([first, ...rest]) };
    this.travelling.set(parcel.id, parcel.update);
    return parcel;
  }

  /** False for something that is not in flight, such as the second acknowledgement of the same parcel. */
  acknowledge(id: string): boolean {
    return this.travelling.delete(id);
  }

  /** Put a refused parcel back, in front of what has not been sent. False when it is not in flight. */
  putBack(id: string): boolean {
    const update = this.travelling.get(id);
    if (update === undefined) return false;
    this.travelling.delete(id);
    this.waiting.unshift(update);
    return true;
  }

  /** Put everything in flight back, in its order: on this connection no answer will come. */
  recall(): void {
    this.waiting.unshift(...this.travelling.values());
    this.travelling.clear();
  }
}
