/** The pages that say why there is nothing else to see, and what can be done about it. */

import type { ReactNode } from "react";
import { Link } from "../components/Link";
import { useArrival } from "../hooks/useArrival";
import { usePageTitle } from "../hooks/usePageTitle";
import { documentsPath } from "../routes";
import type { Refusal } from "../wire/http";

interface StatePageProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
}

function StatePage({ title, children, actions }: StatePageProps) {
  usePageTitle(title);
  const heading = useArrival<HTMLHeadingElement>();
  return (
    <main className="state-page">
      <p className="wordmark">Chopin</p>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <div className="state-page__text">{children}</div>
      {actions !== undefined && <p className="actions">{actions}</p>}
    </main>
  );
}

export interface Project {
  owner: string;
  repository: string;
}

function BackToProject({ project }: { project: Project | undefined }) {
  if (project === undefined) return <Link to="/">All projects</Link>;
  const { owner, repository } = project;
  return (
    <Link to={documentsPath(owner, repository)}>
      Documents of {owner}/{repository}
    </Link>
  );
}

export interface NotFoundProps {
  /** The title the document last had, where it is known. */
  lastTitle?: string | undefined;
  project?: Project | undefined;
  children?: ReactNode;
}

export function NotFound({ lastTitle, project, children }: NotFoundProps) {
  return (
    <StatePage title="Not found" actions={<BackToProject project={project} />}>
      {lastTitle === undefined ? (
        <p>There is nothing at this address, or nothing that you may see.</p>
      ) : (
        <p>
          The document <strong>{lastTitle}</strong> does not exist any more.
        </p>
      )}
      {children}
    </StatePage>
  );
}

export function Trouble({ refusal, retry, project }: { refusal: Refusal; retry(): void; project?: Project }) {
  return (
    <StatePage
      title="This did not work just now"
      actions={
        <>
          <button type="button" className="button button--primary" onClick={retry}>
            Try again
          </button>
          {project !== undefined && <BackToProject project={project} />}
        </>
      }
    >
      <p>{refusal.message}</p>
    </StatePage>
  );
}

export interface SignedOutProps {
  github: boolean;
  /** Go on here after signing in elsewhere. */
  retry(): void;
  /** This tab holds something that leaving it would lose. */
  inNewTab?: boolean;
  children?: ReactNode;
}

export function SignedOut({ github, retry, inNewTab = false, children }: SignedOutProps) {
  const { pathname, search, hash } = window.location;
  const here = encodeURIComponent(pathname + search + hash);
  return (
    <StatePage
      title="You are signed out"
      actions={
        <>
          {github && (
            <a
              className="button button--primary"
              href={`/auth/github?return_to=${here}`}
              {...(inNewTab && { target: "_blank", rel: "noreferrer" })}
            >
              Sign in with GitHub
            </a>
          )}
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        </>
      }
    >
      {github ? (
        <p>Sign in to get back to this page.</p>
      ) : (
        <p>
          Open the sign-in link that <code>chopin</code> printed in the terminal where it runs. It signs this browser
          in.
        </p>
      )}
      {children}
    </StatePage>
  );
}

export interface AccessLostProps {
  project: Project;
  retry(): void;
  children?: ReactNode;
}

export function AccessLost({ project, retry, children }: AccessLostProps) {
  return (
    <StatePage
      title="Access lost"
      actions={
        <>
          <button type="button" className="button button--primary" onClick={retry}>
            Try again
          </button>
          <BackToProject project={project} />
        </>
      }
    >
      <p>
        You may not open this document at present: your sign-in has ended, or your rights in {project.owner}/
        {project.repository} have changed.
      </p>
      {children}
    </StatePage>
  );
}

export function Rejected({ project, retry, children }: AccessLostProps) {
  return (
    <StatePage
      title="Edits refused"
      actions={
        <>
          <button type="button" className="button button--primary" onClick={retry}>
            Open the document again
          </button>
          <BackToProject project={project} />
        </>
      }
    >
      <p>The server has refused several edits from this page and closed the connection.</p>
      {children}
    </StatePage>
  );
}
