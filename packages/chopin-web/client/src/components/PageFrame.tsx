/** What the list pages share: the bar at the top and the column below it. */

import type { ReactNode } from "react";
import type { Session } from "../wire/session";
import { Link } from "./Link";

export function PageFrame({ session, children }: { session: Session; children: ReactNode }) {
  return (
    <div className="page">
      <header className="page__bar">
        <Link to="/" className="wordmark">
          Chopin
        </Link>
        <p className="page__person">{session.person.login}</p>
      </header>
      <main className="page__column">{children}</main>
    </div>
  );
}
