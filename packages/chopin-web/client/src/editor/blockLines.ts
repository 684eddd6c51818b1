/** Marks the lines of headings, quotations, code, tables and lists, so that the stylesheet can set them as blocks. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState, Range as Ranged, Text } from "@codemirror/state";
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const CLASSES: Record<string, string> = {
  ATXHeading1: "block-heading block-heading-1",
  ATXHeading2: "block-heading block-heading-2",
  ATXHeading3: "block-heading block-heading-3",
  ATXHeading4: "block-heading",
  ATXHeading5: "block-heading",
  ATXHeading6: "block-heading",
  SetextHeading1: "block-heading block-heading-1",
  SetextHeading2: "block-heading block-heading-2",
  Blockquote: "block-quote",
  FencedCode: "block-code",
  CodeBlock: "block-code",
  Table: "block-table",
  HTMLBlock: "block-markup",
  HorizontalRule: "block-rule",
};

const prefix = Decoration.mark({ class: "block-list-prefix" });

export const blockLines = ViewPlugin.define(
  (view) => {
    const plugin = {
      decorations: draw(view),
      update: (update: ViewUpdate) => {
        const parsedMore = syntaxTree(update.startState) !== syntaxTree(update.state);
        if (update.docChanged || update.viewportChanged || parsedMore) plugin.decorations = draw(view);
      },
    };
    return plugin;
  },
  { decorations: (plugin) => plugin.decorations },
);

function draw(view: EditorView): DecorationSet {
  const { state } = view;
  const ranges: Ranged<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(state).iterate({
      from,
      to,
      enter: ({ name, from: start, to: end }) => {
        const block = CLASSES[name];
        if (block !== undefined)
          ranges.push(...blockOf(state.doc, block, Math.max(start, from), Math.min(end, to), start, end));
        if (name === "ListMark") ranges.push(...listLine(state, start, end));
      },
    });
  }
  return Decoration.set(ranges, true);
}

/** One decoration per visible line; the first and the last of the whole block can be told. */
function blockOf(doc: Text, block: string, from: number, to: number, start: number, end: number): Ranged<Decoration>[] {
  const [first, last] = [doc.lineAt(start).number, doc.lineAt(end).number];
  const ranges: Ranged<Decoration>[] = [];
  for (let number = doc.lineAt(from).number; number <= doc.lineAt(to).number; number += 1) {
    const edges = `${number === first ? " block-first" : ""}${number === last ? " block-last" : ""}`;
    ranges.push(Decoration.line({ class: block + edges }).range(doc.line(number).from));
  }
  return ranges;
}

/** The line of a list item hangs by its mark: what is wrapped stands below the text, not below the mark. */
function listLine(state: EditorState, markStart: number, markEnd: number): Ranged<Decoration>[] {
  const line = state.doc.lineAt(markStart);
  const space = /^\s*(?:\[[ xX]\]\s)?/.exec(state.sliceDoc(markEnd, line.to))?.[0].length ?? 0;
  const end = markEnd + space;
  if (/\S/.test(state.sliceDoc(line.from, markStart))) return [];
  const width = end - line.from;
  return [
    Decoration.line({ class: "block-list", attributes: { style: `--prefix: ${width}` } }).range(line.from),
    prefix.range(line.from, end),
  ];
}
