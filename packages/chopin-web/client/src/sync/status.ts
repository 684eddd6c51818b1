/** What can be seen of an open document from outside, as one value that never changes. */

import type { Limits, Member } from "../wire/frames";
import type { Ended } from "./connection";
import type { Metadata } from "./metadata";
import type { Link } from "./outage";
import type { Replica } from "./replica";

/** `held`: there are edits that can't be sent at present. */
export type Save = "saved" | "saving" | "held";

/** Text that was typed here and can't become part of the document any more. */
export interface Unsent {
  id: string;
  text: string;
}

export interface Status {
  link: Link;
  ended: Ended | null;
  save: Save;
  /** The copy to show; another one after the document was rebuilt. */
  replica: Replica | null;
  metadata: Metadata | null;
  canEdit: boolean;
  /** Whether typing is possible at this moment. */
  editable: boolean;
  limits: Limits;
  you: Member | null;
  members: readonly Member[];
  unsent: readonly Unsent[];
}

/** `saved` only when the server has acknowledged everything. */
export function saveOf(outboxEmpty: boolean, reachable: boolean): Save {
  if (outboxEmpty) return "saved";
  return reachable ? "saving" : "held";
}

/** A short loss is bridged; during a long one, typing would only pile up what may have to be thrown away. */
export function isEditable(status: Pick<Status, "link" | "ended" | "canEdit">, usable: boolean): boolean {
  return usable && status.canEdit && status.ended === null && status.link !== "offline";
}

export function same(one: Status, other: Status): boolean {
  return (Object.keys(one) as (keyof Status)[]).every((key) => one[key] === other[key]);
}
