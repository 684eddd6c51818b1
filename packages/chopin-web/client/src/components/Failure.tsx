/** Something on a page failed; the rest of the page is still of use. */

import type { Refusal } from "../wire/http";

export function Failure({ what, refusal, retry }: { what: string; refusal: Refusal; retry(): void }) {
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{what}</strong> {refusal.message}
      </p>
      <button type="button" className="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}
