/** One word on whether what one sees is what the server keeps. */

import { useLingering } from "../hooks/useLingering";
import type { Status } from "../sync/status";

export type Word = "opening" | "saved" | "saving" | "reconnecting" | "offline" | "held";

const WORDS: Record<Word, string> = {
  opening: "",
  saved: "Saved",
  saving: "Saving…",
  reconnecting: "Reconnecting…",
  offline: "Offline",
  held: "Not saved",
};

/** While somebody types, the word should not flicker with each keystroke; it errs towards "Saving…". */
const CALM = 600;

export function wordFor({ replica, link, save }: Pick<Status, "replica" | "link" | "save">): Word {
  if (link === "offline") return "offline";
  if (link === "reconnecting") return "reconnecting";
  if (replica === null) return "opening";
  return save;
}

export function SaveState({ status }: { status: Status }) {
  const word = wordFor(status);
  const busy = useLingering(word === "saving", CALM);
  const shown = word === "saved" && busy ? "saving" : word;
  // To somebody who can only read, nothing is saved.
  const silent = shown === "saved" && !status.canEdit;
  return (
    <span className={`save save--${shown}`} data-testid="save-state" data-state={word}>
      {silent ? "" : WORDS[shown]}
    </span>
  );
}
