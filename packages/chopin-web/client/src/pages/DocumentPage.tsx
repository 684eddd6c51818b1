/** One document, opened by its address. */

import { useCallback } from "react";
import { type Remote, useRemote } from "../hooks/useRemote";
import { type OpenedChannel, openById, openBySlug } from "../wire/channels";
import { signsInWithGitHub } from "../wire/session";
import { OpenDocument } from "./OpenDocument";
import { Opening } from "./Opening";
import { AccessLost, NotFound, type Project, SignedOut, Trouble } from "./StatePage";

export function DocumentPage({ owner, repository, slug }: { owner: string; repository: string; slug: string }) {
  const load = useCallback(
    (signal: AbortSignal) => openBySlug(owner, repository, slug, signal),
    [owner, repository, slug],
  );
  const [opened, retry] = useRemote(load);
  return <Outcome opened={opened} retry={retry} project={{ owner, repository }} />;
}

/** The former kind of address; the page corrects it. */
export function ChannelPage({ id }: { id: string }) {
  const load = useCallback((signal: AbortSignal) => openById(id, signal), [id]);
  const [opened, retry] = useRemote(load);
  return <Outcome opened={opened} retry={retry} />;
}

interface OutcomeProps {
  opened: Remote<OpenedChannel>;
  retry(): void;
  project?: Project;
}

function Outcome({ opened, retry, project }: OutcomeProps) {
  switch (opened.state) {
    case "loading":
      return <Opening what="document" />;
    case "ready":
      return <OpenDocument opened={opened.value} />;
    case "failed": {
      const { refusal } = opened;
      if (refusal.status === 401) return <SignedOut github={signsInWithGitHub(refusal.body)} retry={retry} />;
      if (refusal.status === 403 && project !== undefined) return <AccessLost project={project} retry={retry} />;
      if (refusal.temporary) return <Trouble refusal={refusal} retry={retry} {...(project && { project })} />;
      return <NotFound project={project} />;
    }
  }
}
