/** The words of the panel for finding and replacing, written as everything else on the page. */

import { EditorState } from "@codemirror/state";

export const phrases = EditorState.phrases.of({
  next: "Next",
  previous: "Previous",
  all: "Select all",
  "match case": "Match case",
  regexp: "Pattern",
  "by word": "Whole words",
  replace: "Replace",
  "replace all": "Replace all",
  close: "Close",
});
