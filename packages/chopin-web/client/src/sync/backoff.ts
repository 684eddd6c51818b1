/** How long to wait before the next attempt: longer each time, and never the same for everybody. */

export interface BackoffRange {
  first: number;
  most: number;
}

export class Backoff {
  private readonly random: () => number;
  private readonly range: BackoffRange;
  private attempts = 0;

  constructor(random: () => number, range: BackoffRange) {
    this.random = random;
    this.range = range;
  }

  /** Between half and the whole of a delay that doubles up to `most`. */
  next(): number {
    const whole = Math.min(this.range.first * 2 ** this.attempts, this.range.most);
    this.attempts += 1;
    return whole * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.attempts = 0;
  }
}
