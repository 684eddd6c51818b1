/** The documents of one repository: find one, or start one. */

import { useEffect, useState } from "react";
import { Failure } from "../components/Failure";
import { Link } from "../components/Link";
import { PageFrame } from "../components/PageFrame";
import { TimeAgo } from "../components/TimeAgo";
import { useArrival } from "../hooks/useArrival";
import { type Creation, useCreateDocument } from "../hooks/useCreateDocument";
import { type DocumentList, useDocumentList } from "../hooks/useDocumentList";
import { usePageTitle } from "../hooks/usePageTitle";
import { usePaused } from "../hooks/usePaused";
import { documentPath } from "../routes";
import type { Channel } from "../wire/channels";
import type { Session } from "../wire/session";
import { NotFound, SignedOut } from "./StatePage";

/** Long enough not to ask at every letter, short enough not to be waited for. */
const TYPING_PAUSE = 200;
const LONGEST_QUERY = 120;

export interface DocumentsPageProps {
  owner: string;
  repository: string;
  session: Session;
}

export function DocumentsPage({ owner, repository, session }: DocumentsPageProps) {
  usePageTitle(`${owner}/${repository}`);
  const heading = useArrival<HTMLHeadingElement>();
  const [typed, setTyped] = useState("");
  const query = usePaused(typed.trim(), TYPING_PAUSE);
  const list = useDocumentList(owner, repository, query);
  const [creation, create] = useCreateDocument(owner, repository);
  const [mayCreate, setMayCreate] = useState(false);

  const { first } = list;
  useEffect(() => {
    if (first.state === "ready") setMayCreate(first.value.canEdit);
  }, [first]);

  if (first.state === "failed" && first.refusal.status === 401) {
    return <SignedOut github={session.mode === "hosted"} retry={list.retry} />;
  }
  if (first.state === "failed" && (first.refusal.status === 404 || first.refusal.status === 403)) return <NotFound />;
  return (
    <PageFrame session={session}>
      <div className="page__head">
        <nav className="crumbs" aria-label="Breadcrumb">
          <Link to="/">Projects</Link>
        </nav>
        <h1 ref={heading} tabIndex={-1}>
          <span className="page__owner">{owner}/</span>
          <wbr />
          {repository}
        </h1>
      </div>
      <div className="toolbar">
        <search className="toolbar__search">
          <input
            type="search"
            className="field"
            aria-label="Search documents"
            placeholder="Search documents"
            maxLength={LONGEST_QUERY}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </search>
        {mayCreate && <CreateButton creation={creation} create={create} />}
      </div>
      {creation.step === "failed" && (
        <Failure what="The document was not created." refusal={creation.refusal} retry={create} />
      )}
      <p className="visually-hidden" role="status">
        {resultOf(list, query)}
      </p>
      <Documents list={list} query={query} mayCreate={mayCreate} />
    </PageFrame>
  );
}

function CreateButton({ creation, create }: { creation: Creation; create(): void }) {
  const busy = creation.step === "creating" || creation.step === "opening";
  return (
    <button type="button" className="button button--primary" disabled={busy} aria-busy={busy} onClick={create}>
      {creation.step === "creating"
        ? "Creating document…"
        : creation.step === "opening"
          ? "Opening document…"
          : "New document"}
    </button>
  );
}

function Documents({ list, query, mayCreate }: { list: DocumentList; query: string; mayCreate: boolean }) {
  const { first, channels, renewing } = list;
  if (first.state === "loading" && !renewing) return <p className="late quiet">Loading documents…</p>;
  if (first.state === "failed") {
    return <Failure what="The documents could not be loaded." refusal={first.refusal} retry={list.retry} />;
  }
  if (channels.length === 0) return <Nothing query={query} mayCreate={mayCreate} />;
  return (
    <>
      <ul className="rows" aria-label="Documents" aria-busy={renewing}>
        {channels.map((channel) => (
          <DocumentRow key={channel.id} channel={channel} />
        ))}
      </ul>
      {list.moreFailed !== null && (
        <Failure what="No further documents could be loaded." refusal={list.moreFailed} retry={list.loadMore} />
      )}
      {list.hasMore && list.moreFailed === null && (
        <p className="more">
          <button type="button" className="button" disabled={list.loadingMore} onClick={list.loadMore}>
            {list.loadingMore ? "Loading…" : "Load more"}
          </button>
        </p>
      )}
    </>
  );
}

function DocumentRow({ channel }: { channel: Channel }) {
  const open = channel.unansweredDecisions ?? 0;
  return (
    <li className="row">
      <Link to={documentPath(channel.repositoryOwner, channel.repositoryName, channel.slug)} className="row__link">
        <span className="row__title">{channel.title}</span>
      </Link>
      <span className="row__facts">
        {channel.archivedAt !== undefined && "archived · "}
        {open > 0 && `${open} open · `}
        <TimeAgo at={channel.updatedAt} />
      </span>
      {channel.description !== undefined && <p className="row__description">{channel.description}</p>}
    </li>
  );
}

function Nothing({ query, mayCreate }: { query: string; mayCreate: boolean }) {
  if (query !== "") {
    return (
      <div className="empty">
        <p>No document matches “{query}”.</p>
      </div>
    );
  }
  return (
    <div className="empty">
      <p>No documents yet.</p>
      {mayCreate && <p className="quiet">Start one: write alone, together, or with an agent.</p>}
    </div>
  );
}

function resultOf({ first, channels, hasMore }: DocumentList, query: string): string {
  if (first.state !== "ready" || query === "") return "";
  return `${channels.length}${hasMore ? " or more" : ""} ${channels.length === 1 ? "document" : "documents"} found`;
}
