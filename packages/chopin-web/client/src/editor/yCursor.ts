/** Tells the others where our caret is, and draws theirs. */

import { type Extension, StateEffect } from "@codemirror/state";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import * as Y from "yjs";
import type { Caret, Presence } from "../sync/presence";
import { peerLayers } from "./peerLayers";

export interface Self {
  name: string;
  colour: string;
}

const peersMoved = StateEffect.define<null>();

/** Stands behind the binding among the extensions: positions are looked up in the shared text. */
export function yCursor(text: Y.Text, presence: Presence, self: () => Self | null): Extension {
  return [
    ViewPlugin.define((view) => {
      const redraw = redrawing(view, presence);
      let told: Caret | null = null;
      const tell = () => {
        const user = self();
        const caret = caretOf(view, text);
        if (user === null || (told !== null && sameCaret(told, caret))) return;
        told = caret;
        presence.show(user, caret);
      };
      return {
        update: (update: ViewUpdate) => {
          if (view.hasFocus && (update.selectionSet || update.docChanged || update.focusChanged)) tell();
        },
        destroy: () => {
          redraw.stop();
          const user = self();
          if (user !== null) presence.show(user, null);
        },
      };
    }),
    peerLayers(text, presence, ({ transactions }) =>
      transactions.some(({ effects }) => effects.some((effect) => effect.is(peersMoved))),
    ),
  ];
}

/** Presence also changes while the view is being updated, when it takes no other update. */
function redrawing(view: EditorView, presence: Presence): { stop(): void } {
  let stopped = false;
  let coming = false;
  const unsubscribe = presence.subscribe(() => {
    if (coming) return;
    coming = true;
    queueMicrotask(() => {
      coming = false;
      if (!stopped) view.dispatch({ effects: peersMoved.of(null) });
    });
  });
  return {
    stop: () => {
      stopped = true;
      unsubscribe();
    },
  };
}

function caretOf(view: EditorView, text: Y.Text): Caret {
  const { anchor, head } = view.state.selection.main;
  return {
    anchor: Y.createRelativePositionFromTypeIndex(text, anchor),
    head: Y.createRelativePositionFromTypeIndex(text, head),
  };
}

function sameCaret(one: Caret, other: Caret): boolean {
  return Y.compareRelativePositions(one.anchor, other.anchor) && Y.compareRelativePositions(one.head, other.head);
}
