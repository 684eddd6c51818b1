/** People as others see them: one entry each, always in the same colour. */

import type { Member } from "./wire/frames";

/** Dark enough for white letters on them. */
const COLOURS = ["#b4432f", "#96590b", "#5d7320", "#1f7a5c", "#0f7391", "#3b63c4", "#7a4fc0", "#b03a78"] as const;

export function colourOf(handle: string): string {
  let hash = 0;
  for (const character of handle.toLowerCase()) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return COLOURS[hash % COLOURS.length] ?? COLOURS[0];
}

export interface Person {
  handle: string;
  /** With how many tabs they are here. */
  tabs: number;
  isYou: boolean;
}

/** You first, the others in the order of their coming. */
export function peopleOf(members: readonly Member[], you: Member | null): Person[] {
  const people = new Map<string, Person>();
  for (const { handle } of members) {
    const known = people.get(handle);
    people.set(handle, { handle, tabs: (known?.tabs ?? 0) + 1, isYou: handle === you?.handle });
  }
  return [...people.values()].sort((one, other) => Number(other.isYou) - Number(one.isYou));
}

export function initials(handle: string): string {
  const words = handle.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const letters =
    words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? handle)].slice(0, 1);
  return letters.join("").toUpperCase();
}
