/**
 * The others' carets and selections, drawn over and under the text rather than in it: nothing of them disturbs how lines
 * break, what is being composed, or what is read as the text.
 */

import { EditorSelection, type Extension } from "@codemirror/state";
import { type EditorView, type LayerMarker, layer, RectangleMarker, type ViewUpdate } from "@codemirror/view";
import * as Y from "yjs";
import type { Peer, Presence } from "../sync/presence";

/** A letter of a name is about that wide, and a name has that much around it; in pixels. */
const LETTER = 8;
const AROUND = 12;

interface PlacedPeer {
  peer: Peer;
  anchor: number;
  head: number;
}

export function peerLayers(text: Y.Text, presence: Presence, moved: (update: ViewUpdate) => boolean): Extension {
  const update = (change: ViewUpdate) => change.docChanged || change.viewportChanged || moved(change);
  const placed = (view: EditorView) => presence.peers().flatMap((peer) => place(peer, text, view.state.doc.length));
  return [
    layer({
      above: true,
      class: "peer-carets",
      update,
      markers: (view) =>
        placed(view).flatMap(({ peer, head }) =>
          rectangles(view, head, head).map((at) => new CaretMarker(peer, at, view.scrollDOM.clientWidth)),
        ),
    }),
    layer({
      above: false,
      class: "peer-selections",
      update,
      markers: (view) =>
        placed(view)
          .filter(({ anchor, head }) => anchor !== head)
          .flatMap(({ peer, anchor, head }) =>
            rectangles(view, anchor, head).map((at) => new SelectionMarker(peer.colour, at)),
          ),
    }),
  ];
}

/** Nowhere, when the peer is in a text that this one isn't, or in a part of it that hasn't come yet. */
function place(peer: Peer, text: Y.Text, end: number): PlacedPeer[] {
  if (text.doc === null) return [];
  const anchor = Y.createAbsolutePositionFromRelativePosition(peer.anchor, text.doc);
  const head = Y.createAbsolutePositionFromRelativePosition(peer.head, text.doc);
  if (anchor?.type !== text || head?.type !== text || anchor.index > end || head.index > end) return [];
  return [{ peer, anchor: anchor.index, head: head.index }];
}

function rectangles(view: EditorView, anchor: number, head: number): readonly RectangleMarker[] {
  return RectangleMarker.forRange(view, "", EditorSelection.range(anchor, head));
}

class SelectionMarker implements LayerMarker {
  private readonly colour: string;
  private readonly at: RectangleMarker;

  constructor(colour: string, at: RectangleMarker) {
    this.colour = colour;
    this.at = at;
  }

  eq(other: SelectionMarker): boolean {
    return this.colour === other.colour && this.at.eq(other.at);
  }

  draw(): HTMLElement {
    const dom = this.at.draw();
    dom.className = "peer-selection";
    // Through the object model: the content security policy allows no style attribute in markup.
    dom.style.setProperty("--peer", this.colour);
    return dom;
  }
}

class CaretMarker implements LayerMarker {
  private readonly peer: Peer;
  private readonly at: RectangleMarker;
  private readonly onTheLeft: boolean;

  constructor(peer: Peer, at: RectangleMarker, width: number) {
    this.peer = peer;
    this.at = at;
    this.onTheLeft = at.left + peer.name.length * LETTER + AROUND > width;
  }

  eq(other: CaretMarker): boolean {
    return this.samePlace(other) && this.at.eq(other.at) && this.onTheLeft === other.onTheLeft;
  }

  draw(): HTMLElement {
    const dom = document.createElement("div");
    dom.style.setProperty("--peer", this.peer.colour);
    const dot = document.createElement("span");
    dot.className = "peer-dot";
    const name = document.createElement("span");
    name.className = "peer-name";
    name.textContent = this.peer.name;
    dom.append(dot, name);
    this.adjust(dom);
    return dom;
  }

  /** Text that moves a caret along does not draw it anew: a name is shown for a moment when its owner moves. */
  update(dom: HTMLElement, before: CaretMarker): boolean {
    if (!this.samePlace(before)) return false;
    this.adjust(dom);
    return true;
  }

  private adjust(dom: HTMLElement): void {
    dom.className = this.onTheLeft ? "peer-caret peer-caret--left" : "peer-caret";
    dom.style.left = `${this.at.left}px`;
    dom.style.top = `${this.at.top}px`;
    dom.style.height = `${this.at.height}px`;
  }

  private samePlace({ peer }: CaretMarker): boolean {
    return (
      this.peer.client === peer.client &&
      this.peer.name === peer.name &&
      this.peer.colour === peer.colour &&
      Y.compareRelativePositions(this.peer.head, peer.head)
    );
  }
}
