/** The editor of one open document: follows the provider from copy to copy, outside React's rounds. */

import { defaultKeymap } from "@codemirror/commands";
import { search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState } from "@codemirror/state";
import { dropCursor, EditorView, keymap, placeholder } from "@codemirror/view";
import { colourOf } from "../people";
import type { Provider } from "../sync/provider";
import type { Replica } from "../sync/replica";
import type { Status } from "../sync/status";
import { type Access, access, setAccess } from "./access";
import { cspNonce } from "./cspNonce";
import { limits } from "./limits";
import { markdown } from "./markdown";
import { phrases } from "./phrases";
import { withCollaboration } from "./withCollaboration";

/** What the bar above covers, with some room: the caret is scrolled to where it can be seen. */
const HEADER_HEIGHT = 96;

export interface Surface {
  focus(): void;
  destroy(): void;
}

export function openSurface(parent: HTMLElement, provider: Provider, refuse: (why: string) => void): Surface {
  const view = new EditorView({
    parent,
    state: EditorState.create({ extensions: [cspNonce(), EditorView.editable.of(false)] }),
  });
  let shown: Replica | null = null;
  let standing: Access | null = null;

  const follow = () => {
    const status = provider.getStatus();
    if (status.replica === null) return;
    const now = accessOf(status);
    if (status.replica !== shown) {
      const first = shown === null;
      shown = status.replica;
      view.setState(stateFor(status.replica, now, provider, refuse, view.state));
      // Whoever opens an empty document has come to write.
      if (first && now === "write" && view.state.doc.length === 0) view.focus();
    } else if (now !== standing) {
      setAccess(view, now);
    }
    standing = now;
  };

  const unsubscribe = provider.subscribe(follow);
  follow();
  return {
    focus: () => view.focus(),
    destroy: () => {
      unsubscribe();
      view.destroy();
    },
  };
}

function accessOf(status: Status): Access {
  if (!status.canEdit) return "read";
  return status.editable ? "write" : "paused";
}

/** A fresh state, with the caret about where it was: the text of another epoch is the same but for what was lost. */
function stateFor(
  replica: Replica,
  now: Access,
  provider: Provider,
  refuse: (why: string) => void,
  before: EditorState,
): EditorState {
  const doc = replica.text.toString();
  const { anchor, head } = before.selection.main;
  return EditorState.create({
    doc,
    selection: EditorSelection.single(Math.min(anchor, doc.length), Math.min(head, doc.length)),
    extensions: [
      cspNonce(),
      access(now, () => provider.getStatus().replica === replica && provider.getStatus().editable),
      limits(() => provider.getStatus().limits, refuse),
      withCollaboration(replica, () => {
        const { you } = provider.getStatus();
        return you === null ? null : { name: you.handle, colour: colourOf(you.handle) };
      }),
      markdown(),
      phrases,
      search({ top: true }),
      dropCursor(),
      keymap.of([...searchKeymap, ...defaultKeymap]),
      EditorView.lineWrapping,
      EditorView.scrollMargins.of(() => ({ top: HEADER_HEIGHT, bottom: 48 })),
      EditorView.contentAttributes.of({
        "aria-label": "Document text",
        spellcheck: "true",
        autocapitalize: "sentences",
        autocorrect: "on",
      }),
      placeholder("Write something…"),
    ],
  });
}
