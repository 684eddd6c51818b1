/** Markdown in the editor: how it is parsed, and which class each kind of text gets for the stylesheet. */

import { markdownLanguage, markdown as markdownLanguageSupport } from "@codemirror/lang-markdown";
import { syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tagHighlighter, tags } from "@lezer/highlight";
import { blockLines } from "./blockLines";

const classes = tagHighlighter([
  { tag: tags.heading1, class: "md-heading md-heading-1" },
  { tag: tags.heading2, class: "md-heading md-heading-2" },
  { tag: tags.heading3, class: "md-heading md-heading-3" },
  { tag: [tags.heading4, tags.heading5, tags.heading6], class: "md-heading md-heading-4" },
  { tag: tags.strong, class: "md-strong" },
  { tag: tags.emphasis, class: "md-emphasis" },
  { tag: tags.strikethrough, class: "md-struck" },
  { tag: tags.monospace, class: "md-code" },
  { tag: tags.link, class: "md-link" },
  { tag: tags.url, class: "md-url" },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.labelName], class: "md-mark" },
  { tag: tags.atom, class: "md-task" },
  { tag: [tags.tagName, tags.angleBracket, tags.attributeName, tags.attributeValue], class: "md-tag" },
  { tag: [tags.comment, tags.meta], class: "md-aside" },
]);

export function markdown(): Extension {
  return [
    markdownLanguageSupport({ base: markdownLanguage, completeHTMLTags: false }),
    syntaxHighlighting(classes),
    blockLines,
  ];
}
