/** Something is on its way; said only once it takes long enough to be noticed (the stylesheet waits). */

export function Opening({ what }: { what: string | null }) {
  return (
    <main className="state-page state-page--quiet" aria-busy="true">
      <p className="late">{what === null ? "Loading…" : `Opening ${what}…`}</p>
    </main>
  );
}
