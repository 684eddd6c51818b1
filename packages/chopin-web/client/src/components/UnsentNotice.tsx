/** Text that did not make it into the document: told, and offered to take along. */

import type { Provider } from "../sync/provider";
import type { Status, Unsent } from "../sync/status";
import { CopyText } from "./CopyText";

export function UnsentNotices({ provider, status }: { provider: Provider; status: Status }) {
  // What waits behind a lost sign-in may still be sent, but the person should not have to rely on it.
  const waiting = status.ended !== null && status.save !== "saved" ? (status.replica?.text.toString() ?? null) : null;
  return (
    <>
      {waiting !== null && (
        <div className="notice" role="alert">
          <p>Your last edits are not saved yet. They are kept in this tab and sent when you are back in.</p>
          <p className="actions">
            <CopyText text={waiting} />
          </p>
        </div>
      )}
      {status.unsent.map((entry) => (
        <UnsentNotice
          key={entry.id}
          unsent={entry}
          deleted={status.ended === "deleted"}
          dismiss={() => provider.dismissUnsent(entry.id)}
        />
      ))}
    </>
  );
}

function UnsentNotice({ unsent, deleted, dismiss }: { unsent: Unsent; deleted: boolean; dismiss(): void }) {
  return (
    <div className="notice" role="alert">
      <p>
        <strong>Unsent edits were dropped</strong>{" "}
        {deleted
          ? "because the document was deleted. The text as you had it is kept here until you leave this page."
          : "because the document was rebuilt. The text as you had it is kept here until you leave this page."}
      </p>
      <p className="actions">
        <CopyText text={unsent.text} />
        <button type="button" className="button" onClick={dismiss}>
          Dismiss
        </button>
      </p>
    </div>
  );
}
