/** The repositories whose documents this person may open. */

import { Failure } from "../components/Failure";
import { Link } from "../components/Link";
import { PageFrame } from "../components/PageFrame";
import { useArrival } from "../hooks/useArrival";
import { usePageTitle } from "../hooks/usePageTitle";
import { useRemote } from "../hooks/useRemote";
import { documentsPath } from "../routes";
import { listRepositories, type Repository } from "../wire/channels";
import type { Session } from "../wire/session";
import { SignedOut } from "./StatePage";

export function ProjectsPage({ session }: { session: Session }) {
  usePageTitle("Projects");
  const heading = useArrival<HTMLHeadingElement>();
  const [repositories, retry] = useRemote(listRepositories);
  if (repositories.state === "failed" && repositories.refusal.status === 401) {
    return <SignedOut github={session.mode === "hosted"} retry={retry} />;
  }
  return (
    <PageFrame session={session}>
      <div className="page__head">
        <h1 ref={heading} tabIndex={-1}>
          Projects
        </h1>
      </div>
      {repositories.state === "loading" && <p className="late quiet">Loading projects…</p>}
      {repositories.state === "failed" && (
        <Failure what="The projects could not be loaded." refusal={repositories.refusal} retry={retry} />
      )}
      {repositories.state === "ready" && <Repositories repositories={repositories.value} />}
    </PageFrame>
  );
}

function Repositories({ repositories }: { repositories: Repository[] }) {
  if (repositories.length === 0) {
    return (
      <div className="empty">
        <p>No projects yet.</p>
        <p className="quiet">A project is a repository that Chopin has been given access to.</p>
      </div>
    );
  }
  return (
    <ul className="rows" aria-label="Projects">
      {repositories.map((repository) => (
        <li key={repository.id} className="row">
          <Link to={documentsPath(repository.owner, repository.name)} className="row__link">
            <span className="row__title">
              <span className="row__owner">{repository.owner}/</span>
              {repository.name}
            </span>
          </Link>
          <span className="row__facts">{facts(repository).join(" · ")}</span>
        </li>
      ))}
    </ul>
  );
}

function facts({ private: hidden, permissions }: Repository): string[] {
  const words: string[] = [];
  if (hidden) words.push("private");
  if (!permissions.push && !permissions.admin) words.push("read only");
  return words;
}
