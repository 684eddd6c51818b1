/** Whether this person may type, asked at the moment of typing. */

import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { isShared } from "./ySync";

/** `paused`: typing is not possible for now, but focus and caret stay where they are. */
export type Access = "write" | "paused" | "read";

const standing = new Compartment();

export function access(now: Access, editable: () => boolean): Extension {
  return [
    // What is shown follows a moment later; nothing may slip into a copy that is about to be thrown away.
    EditorState.changeFilter.of((transaction) => isShared(transaction) || editable()),
    standing.of(extensionFor(now)),
  ];
}

export function setAccess(view: EditorView, now: Access): void {
  view.dispatch({ effects: standing.reconfigure(extensionFor(now)) });
}

function extensionFor(now: Access): Extension {
  return [
    EditorState.readOnly.of(now !== "write"),
    EditorView.editable.of(now !== "read"),
    EditorView.contentAttributes.of(
      now === "read" ? { "aria-readonly": "true", tabindex: "0" } : { "aria-readonly": String(now === "paused") },
    ),
  ];
}
