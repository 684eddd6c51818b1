/** Everything that makes an editor a shared one, in the order the parts need. */

import type { Extension } from "@codemirror/state";
import type { Replica } from "../sync/replica";
import { type Self, yCursor } from "./yCursor";
import { ySync } from "./ySync";
import { yUndo } from "./yUndo";

export function withCollaboration({ text, presence }: Replica, self: () => Self | null): Extension {
  const { origin, extension } = ySync(text);
  return [extension, yUndo(text, origin), yCursor(text, presence, self)];
}
