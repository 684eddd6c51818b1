/** One document, opened by its address. */

import { useCallback } from "react";
import { type Remote, useRemote } from "../hooks/useRemote";
import { type OpenedChannel, openById, openBySlug } from "../wire/channels";
import { type Session, signsInWithGitHub } from "../wire/session";
import { OpenDocument } from "./OpenDocument";
import { Opening } from "./Opening";
import { AccessLost, NotFound, type Project, SignedOut, Trouble } from "./StatePage";

export interface DocumentPageProps {
  owner: string;
  repository: string;
  slug: string;
  session: Session;
}

export function DocumentPage({ owner, repository, slug, session }: DocumentPageProps) {
  const load = useCallback(
    (signal: AbortSignal) => openBySlug(owner, repository, slug, signal),
    [owner, repository, slug],
  );
  const [opened, retry] = useRemote(load);
  return <Outcome opened={opened} retry={retry} session={session} project={{ owner, repository }} />;
}

/** The former kind of address; the page corrects it. */
export function ChannelPage({ id, session }: { id: string; session: Session }) {
  const load = useCallback((signal: AbortSignal) => openById(id, signal), [id]);
  const [opened, retry] = useRemote(load);
  return <Outcome opened={opened} retry={retry} session={session} />;
}

interface OutcomeProps {
  opened: Remote<OpenedChannel>;
  retry(): void;
  session: Session;
  project?: Project;
}

function Outcome({ opened, retry, session, project }: OutcomeProps) {
  switch (opened.state) {
    case "loading":
      return <Opening what="document" />;
    case "ready":
      return <OpenDocument opened={opened.value} session={session} />;
    case "failed": {
      const { refusal } = opened;
      if (refusal.status === 401) return <SignedOut github={signsInWithGitHub(refusal.body)} retry={retry} />;
      if (refusal.status === 403 && project !== undefined) return <AccessLost project={project} retry={retry} />;
      if (refusal.temporary) return <Trouble refusal={refusal} retry={retry} {...(project && { project })} />;
      return <NotFound project={project} />;
    }
  }
}
