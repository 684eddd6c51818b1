/** The nonce of this page: without it the content security policy forbids the styles that the editor brings along. */

import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { pageNonce } from "../pageNonce";

export function cspNonce(): Extension {
  const nonce = pageNonce();
  return nonce === null ? [] : EditorView.cspNonce.of(nonce);
}
