/** The others' carets and selections in the text, and ours told to them. */

import { type Extension, type Range as Ranged, RangeSet, StateEffect } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import * as Y from "yjs";
import type { Caret, Peer, Presence } from "../sync/presence";

export interface Self {
  name: string;
  colour: string;
}

const peersMoved = StateEffect.define<null>();

/** Keeps the caret from becoming a place where a line may break. */
const WORD_JOINER = "\u2060";

class CaretWidget extends WidgetType {
  private readonly peer: Peer;

  constructor(peer: Peer) {
    super();
    this.peer = peer;
  }

  /** The same until its owner moves it, so that the name shows for a moment after each move and then steps back. */
  override eq(other: CaretWidget): boolean {
    const [one, two] = [this.peer, other.peer];
    return (
      one.client === two.client &&
      one.name === two.name &&
      one.colour === two.colour &&
      Y.compareRelativePositions(one.head, two.head)
    );
  }

  override toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = "peer-caret";
    caret.setAttribute("aria-hidden", "true");
    // Through the object model: the content security policy allows no style attribute in markup.
    caret.style.setProperty("--peer", this.peer.colour);
    const name = document.createElement("span");
    name.className = "peer-name";
    name.textContent = this.peer.name;
    caret.append(WORD_JOINER, name, WORD_JOINER);
    return caret;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Stands behind the binding among the extensions: positions are looked up in the shared text. */
export function yCursor(text: Y.Text, presence: Presence, self: () => Self | null): Extension {
  return ViewPlugin.define(
    (view) => {
      const plugin = {
        decorations: draw(view, text, presence),
        told: null as Caret | null,
        update: (update: ViewUpdate) => {
          const moved = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(peersMoved)));
          if (update.docChanged || moved) {
            plugin.decorations = draw(view, text, presence);
            view.requestMeasure(namesInside);
          }
          if (view.hasFocus && (update.selectionSet || update.docChanged || update.focusChanged)) tell();
        },
        destroy: () => {
          gone = true;
          unsubscribe();
          const user = self();
          if (user !== null) presence.show(user, null);
        },
      };
      const tell = () => {
        const user = self();
        if (user === null) return;
        const caret = caretOf(view, text);
        if (plugin.told !== null && sameCaret(plugin.told, caret)) return;
        plugin.told = caret;
        presence.show(user, caret);
      };
      let gone = false;
      let drawing = false;
      const unsubscribe = presence.subscribe(() => {
        if (drawing) return;
        drawing = true;
        // Presence also changes while the view is being updated, when it takes no other update.
        queueMicrotask(() => {
          drawing = false;
          if (!gone) view.dispatch({ effects: peersMoved.of(null) });
        });
      });
      return plugin;
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

/** Names at the right edge of the page go to the other side of their caret. */
const namesInside = {
  read: (view: EditorView) => {
    const edge = view.dom.getBoundingClientRect().right;
    return [...view.contentDOM.querySelectorAll<HTMLElement>(".peer-name")].map((name) => {
      const caret = name.parentElement?.getBoundingClientRect().left ?? 0;
      return { name, left: caret + name.offsetWidth > edge };
    });
  },
  write: (names: { name: HTMLElement; left: boolean }[]) => {
    for (const { name, left } of names) name.classList.toggle("peer-name--left", left);
  },
};

function draw(view: EditorView, text: Y.Text, presence: Presence): DecorationSet {
  const { doc } = text;
  if (doc === null) return RangeSet.empty;
  const end = view.state.doc.length;
  const ranges: Ranged<Decoration>[] = [];
  for (const peer of presence.peers()) {
    const anchor = Y.createAbsolutePositionFromRelativePosition(peer.anchor, doc);
    const head = Y.createAbsolutePositionFromRelativePosition(peer.head, doc);
    if (anchor?.type !== text || head?.type !== text || anchor.index > end || head.index > end) continue;
    const [from, to] = [Math.min(anchor.index, head.index), Math.max(anchor.index, head.index)];
    if (from < to) {
      ranges.push(
        Decoration.mark({ class: "peer-selection", attributes: { style: `--peer: ${peer.colour}` } }).range(from, to),
      );
    }
    // On the far side of our own caret, whichever way the selection runs.
    const side = head.index > anchor.index ? -1 : 1;
    ranges.push(Decoration.widget({ widget: new CaretWidget(peer), side }).range(head.index));
  }
  return Decoration.set(ranges, true);
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
