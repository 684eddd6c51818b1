/** What the server would refuse is refused here, before it is typed into the document. */

import { EditorState, type Extension, StateField, type Text, type Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { isShared } from "./ySync";

/** What one replaced range adds to an update beside its text, generously. */
export const BYTES_PER_RANGE = 40;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are exactly the characters a document may not hold.
const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export interface Limits {
  source: number;
  update: number;
}

/** Counted along with each change: counting a large document anew at every keystroke could be felt. */
const bytes = StateField.define<number>({
  create: (state) => utf8Length(state.doc),
  update: (before, transaction) => before + growth(transaction),
});

/** Pasted text is cleaned of control characters; what would make the document too large is refused and `refuse` told why. */
export function limits(bounds: () => Limits, refuse: (why: string) => void): Extension {
  return [
    bytes,
    EditorView.clipboardInputFilter.of((text) => clean(text)),
    EditorState.transactionFilter.of((transaction) => {
      if (!transaction.docChanged || isShared(transaction)) return transaction;
      const why = problem(transaction, bounds());
      if (why === null) return transaction;
      refuse(why);
      return [];
    }),
  ];
}

/** Line ends as the editor splits them, no control characters but tabs, no half characters. */
export function clean(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(FORBIDDEN, "").toWellFormed();
}

function problem(transaction: Transaction, { source, update }: Limits): string | null {
  let size = 0;
  let sound = true;
  transaction.changes.iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
    const text = inserted.toString();
    size += BYTES_PER_RANGE + utf8Length(inserted);
    sound &&= text === clean(text);
  });
  if (!sound) return "This text holds characters that a document can’t keep.";
  if (size > update) return "This change is too large to be made at once. Make it in smaller steps.";
  const more = growth(transaction);
  if (more > 0 && transaction.startState.field(bytes) + more > source) {
    return `A document holds at most ${Math.floor(source / 1024)} KiB of text. This would be more, so it was not inserted.`;
  }
  return null;
}

function growth({ changes, startState }: Transaction): number {
  let more = 0;
  changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
    more += utf8Length(inserted) - utf8Length(startState.doc.slice(fromA, toA));
  });
  return more;
}

export function utf8Length(text: Text): number {
  const encoder = new TextEncoder();
  let length = 0;
  for (const piece of text.iter()) length += encoder.encode(piece).length;
  return length;
}
