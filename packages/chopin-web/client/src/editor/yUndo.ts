/** Undo and redo of what was typed here, never of what others did. */

import { EditorSelection, type Extension } from "@codemirror/state";
import { type Command, EditorView, keymap, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import * as Y from "yjs";
import { isShared } from "./ySync";

interface StackItemEvent {
  stackItem: { meta: Map<unknown, unknown> };
}

interface RememberedSelection {
  anchor: Y.RelativePosition;
  head: Y.RelativePosition;
}

/** Stands behind the binding among the extensions: it reads the selection once the shared text has the change. */
export function yUndo(text: Y.Text, origin: unknown): Extension {
  const remembered = Symbol("selection");
  const plugin = ViewPlugin.define((view) => {
    const undo = new Y.UndoManager(text, { trackedOrigins: new Set([origin]) });
    let selection = remember(text, view);

    undo.on("stack-item-added", ({ stackItem }: StackItemEvent) => {
      if (!stackItem.meta.has(remembered)) stackItem.meta.set(remembered, selection);
    });
    undo.on("stack-item-popped", ({ stackItem }: StackItemEvent) => {
      const range = recall(text, stackItem.meta.get(remembered) as RememberedSelection | undefined);
      if (range !== null) view.dispatch({ selection: range, scrollIntoView: true });
    });
    return {
      undo,
      update: (update: ViewUpdate) => {
        if ((update.selectionSet || update.docChanged) && !update.transactions.some(isShared)) {
          selection = remember(text, view);
        }
      },
      destroy: () => undo.destroy(),
    };
  });

  const run =
    (step: "undo" | "redo"): Command =>
    (view) => {
      if (!view.state.readOnly) view.plugin(plugin)?.undo[step]();
      return true;
    };
  return [
    plugin,
    keymap.of([
      { key: "Mod-z", run: run("undo"), preventDefault: true },
      { key: "Mod-Shift-z", run: run("redo"), preventDefault: true },
      { key: "Mod-y", mac: "Mod-Shift-z", run: run("redo"), preventDefault: true },
    ]),
    EditorView.domEventHandlers({
      beforeinput: (event, view) => {
        if (event.inputType === "historyUndo") return run("undo")(view);
        if (event.inputType === "historyRedo") return run("redo")(view);
        return false;
      },
    }),
  ];
}

function remember(text: Y.Text, view: EditorView): RememberedSelection {
  const { anchor, head } = view.state.selection.main;
  return {
    anchor: Y.createRelativePositionFromTypeIndex(text, anchor),
    head: Y.createRelativePositionFromTypeIndex(text, head),
  };
}

function recall(text: Y.Text, selection: RememberedSelection | undefined) {
  if (selection === undefined || text.doc === null) return null;
  const anchor = Y.createAbsolutePositionFromRelativePosition(selection.anchor, text.doc);
  const head = Y.createAbsolutePositionFromRelativePosition(selection.head, text.doc);
  if (anchor === null || head === null) return null;
  return EditorSelection.range(anchor.index, head.index);
}
