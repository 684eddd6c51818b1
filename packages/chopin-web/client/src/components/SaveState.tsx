/** One word on whether what one sees is what the server keeps. */

import { useSettled } from "../hooks/useSettled";
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
  const calm = useSettled(word === "saved", CALM);
  const shown = word === "saved" && !calm ? "saving" : word;
  return (
    <span className={`save save--${shown}`} data-testid="save-state" data-state={word}>
      {WORDS[shown]}
    </span>
  );
}
