import { useCallback, useEffect, useState } from "react";
import { Refusal } from "../wire/http";

export type Remote<T> = { state: "loading" } | { state: "ready"; value: T } | { state: "failed"; refusal: Refusal };

/** What the server answers to `load`, which must stay the same function for the same question. */
export function useRemote<T>(load: (signal: AbortSignal) => Promise<T>): [Remote<T>, () => void] {
  const [remote, setRemote] = useState<Remote<T>>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt asks the same question again.
  useEffect(() => {
    const left = new AbortController();
    setRemote({ state: "loading" });
    load(left.signal).then(
      (value) => {
        if (!left.signal.aborted) setRemote({ state: "ready", value });
      },
      (error: unknown) => {
        if (!left.signal.aborted) setRemote({ state: "failed", refusal: refusalOf(error) });
      },
    );
    return () => left.abort();
  }, [load, attempt]);

  const retry = useCallback(() => setAttempt((number) => number + 1), []);
  return [remote, retry];
}

/** Anything else is a fault of this program, shown as one and kept for the console. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  reportError(error);
  return new Refusal(-1, "Something went wrong in this page.");
}
