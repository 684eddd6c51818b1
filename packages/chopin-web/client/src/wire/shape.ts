/** Reading what came over the wire: each reader answers a value of its type, or throws `Misshapen`. */

import { fromBase64 } from "./base64";

export class Misshapen extends Error {}

export type Reader<T> = (value: unknown) => T;
export type Read<R> = R extends Reader<infer T> ? T : never;

/** Fields whose reader also takes `undefined` may be absent. */
type Fields<S> = { [K in keyof S as undefined extends Read<S[K]> ? never : K]: Read<S[K]> } & {
  [K in keyof S as undefined extends Read<S[K]> ? K : never]?: Read<S[K]>;
};
type Flat<T> = { [K in keyof T]: T[K] };

export const text: Reader<string> = (value) => {
  if (typeof value !== "string") throw new Misshapen("not a string");
  return value;
};

export const number: Reader<number> = (value) => {
  if (typeof value !== "number") throw new Misshapen("not a number");
  return value;
};

export const flag: Reader<boolean> = (value) => {
  if (typeof value !== "boolean") throw new Misshapen("not a boolean");
  return value;
};

export const bytes: Reader<Uint8Array> = (value) => {
  try {
    return fromBase64(text(value));
  } catch {
    throw new Misshapen("not base64");
  }
};

export function list<T>(item: Reader<T>): Reader<T[]> {
  return (value) => {
    if (!Array.isArray(value)) throw new Misshapen("not a list");
    return value.map(item);
  };
}

/** Absent and `null` are the same: nothing. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return (value) => (value === undefined || value === null ? undefined : reader(value));
}

export function record<S extends Record<string, Reader<unknown>>>(shape: S): Reader<Flat<Fields<S>>> {
  return (value) => {
    if (typeof value !== "object" || value === null) throw new Misshapen("not an object");
    const source = value as Record<string, unknown>;
    const fields: Record<string, unknown> = {};
    for (const [name, reader] of Object.entries(shape)) {
      const field = reader(source[name]);
      if (field !== undefined) fields[name] = field;
    }
    return fields as Flat<Fields<S>>;
  };
}
