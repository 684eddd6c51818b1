/** Asking the server over HTTP: JSON both ways, and refusals as one kind of error. */

import { Misshapen, type Reader } from "./shape";

/** The server refused, could not be reached (`status` 0), or answered something unreadable (`status` -1). */
export class Refusal extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, message: string, body?: unknown) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.body = body;
  }

  /** Whether asking again may go better without anybody doing anything. */
  get temporary(): boolean {
    return this.status <= 0 || this.status === 429 || this.status >= 500;
  }
}

export interface Answer<T> {
  value: T;
  location: string | null;
}

export interface Ask {
  method?: "GET" | "POST" | "PATCH";
  body?: unknown;
  signal?: AbortSignal;
}

export async function ask<T>(
  path: string,
  read: Reader<T>,
  { method = "GET", body, signal }: Ask = {},
): Promise<Answer<T>> {
  const response = await reach(path, {
    method,
    headers:
      body === undefined
        ? { accept: "application/json" }
        : { accept: "application/json", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const content: unknown = await response.json().catch(() => undefined);
  signal?.throwIfAborted();
  if (!response.ok) throw new Refusal(response.status, sentence(content) ?? standing(response.status), content);
  try {
    return { value: read(content), location: response.headers.get("location") };
  } catch (error) {
    if (error instanceof Misshapen) throw new Refusal(-1, "The server’s answer could not be read.");
    throw error;
  }
}

/** A frozen network says nothing for minutes; a person is told sooner that they may try again. */
const PATIENCE_MS = 30_000;

async function reach(path: string, init: RequestInit): Promise<Response> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const signal = init.signal ? AbortSignal.any([init.signal, patience]) : patience;
  try {
    return await fetch(path, { ...init, signal, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal(0, "The server could not be reached.");
  }
}

function sentence(content: unknown): string | undefined {
  const error = (content as { error?: unknown } | null | undefined)?.error;
  return typeof error === "string" && error !== "" ? error : undefined;
}

function standing(status: number): string {
  return status >= 500 ? "The server could not do this just now." : `The server refused this (${status}).`;
}
