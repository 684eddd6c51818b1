/** Binds the editor's text to the shared one. */

import type { Extension, Transaction } from "@codemirror/state";
import { YSyncConfig, ySyncAnnotation, ySyncFacet, ySync as ySyncPlugin } from "y-codemirror.next";
import type * as Y from "yjs";

export interface Binding {
  /** The origin of what is typed here, in the shared document's transactions. */
  origin: YSyncConfig;
  extension: Extension;
}

/** The editor must start out with the shared text. */
export function ySync(text: Y.Text): Binding {
  const origin = new YSyncConfig(text, null);
  return { origin, extension: [ySyncFacet.of(origin), ySyncPlugin] };
}

/** Whether the change comes from the shared document: it has happened already and can't be refused. */
export function isShared(transaction: Transaction): boolean {
  return transaction.annotation(ySyncAnnotation) !== undefined;
}
