/** What a lost connection means for the person, for as long as it is lost. */

import type { Status } from "../sync/status";

/** The place stays in the page, so that screen readers hear what comes into it. */
export function ConnectionNotice({ status }: { status: Status }) {
  const text = sentenceFor(status);
  return (
    <p className={text === "" ? "visually-hidden" : "pill"} role="status" aria-live="polite">
      {text}
    </p>
  );
}

export function sentenceFor({ link, save, canEdit }: Pick<Status, "link" | "save" | "canEdit">): string {
  if (link === "offline") {
    return save === "saved"
      ? "Offline. You can go on writing when the connection returns."
      : "Offline. Your changes are kept here until the connection returns.";
  }
  if (link === "reconnecting") return "Reconnecting…";
  if (save === "held") {
    return canEdit
      ? "Not saved yet. Your changes are kept here and will be sent again."
      : "Your last changes are not saved: the document can’t be changed at present.";
  }
  return "";
}
