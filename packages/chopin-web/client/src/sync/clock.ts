/** Time as an argument, so that tests can turn it. */

export type Cancel = () => void;

export interface Clock {
  /** Milliseconds that only grow. */
  now(): number;
  /** Unix seconds, for the wire. */
  unix(): number;
  after(milliseconds: number, run: () => void): Cancel;
}

export const browserClock: Clock = {
  now: () => performance.now(),
  unix: () => Math.floor(Date.now() / 1000),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};
