/** An open document: its header, the text, and what has to be said about either. */

import { useCallback, useRef, useState } from "react";
import { ConnectionNotice } from "../components/ConnectionNotice";
import { DocumentHeader } from "../components/DocumentHeader";
import { RefusalNotice } from "../components/RefusalNotice";
import { UnsentNotices } from "../components/UnsentNotice";
import { Editor } from "../editor/Editor";
import { useCanonicalAddress } from "../hooks/useCanonicalAddress";
import { useDocument } from "../hooks/useDocument";
import { usePageTitle } from "../hooks/usePageTitle";
import { useStatus } from "../hooks/useStatus";
import { documentPath } from "../routes";
import type { Provider } from "../sync/provider";
import type { OpenedChannel } from "../wire/channels";
import type { Session } from "../wire/session";
import { Opening } from "./Opening";
import { AccessLost, NotFound, Rejected, SignedOut } from "./StatePage";
import "../styles/document.css";

export interface OpenDocumentProps {
  opened: OpenedChannel;
  session: Session;
}

export function OpenDocument({ opened, session }: OpenDocumentProps) {
  const provider = useDocument(opened.channel);
  if (provider === null) return <Opening what="document" />;
  return <Workspace provider={provider} opened={opened} session={session} />;
}

function Workspace({ provider, opened, session }: OpenDocumentProps & { provider: Provider }) {
  const status = useStatus(provider);
  const { owner, name: repository } = opened.repository;
  const { title, slug } = status.metadata ?? opened.channel;
  usePageTitle(status.ended === null ? title : null);
  useCanonicalAddress(documentPath(owner, repository, slug));

  const [refusal, setRefusal] = useState<string | null>(null);
  const editor = useRef<{ focus(): void }>(null);
  const refuse = useCallback((why: string) => setRefusal(why), []);
  const goOn = () => {
    setRefusal(null);
    editor.current?.focus();
  };
  const resume = useCallback(() => provider.resume(), [provider]);

  const unsent = <UnsentNotices provider={provider} status={status} />;
  const project = { owner, repository };
  switch (status.ended) {
    case "deleted":
      return (
        <NotFound lastTitle={title} project={project}>
          {unsent}
        </NotFound>
      );
    case "access-lost":
      return (
        <AccessLost project={project} retry={resume}>
          {unsent}
        </AccessLost>
      );
    case "rejected":
      return (
        <Rejected project={project} retry={resume}>
          {unsent}
        </Rejected>
      );
    case "signed-out":
      return (
        <SignedOut github={session.mode === "hosted"} inNewTab retry={resume}>
          {unsent}
        </SignedOut>
      );
    case null:
      return (
        <div className="document">
          <DocumentHeader provider={provider} status={status} opened={opened} title={title} />
          <main className="document__paper">
            {status.replica === null ? (
              <p className="late quiet">Opening document…</p>
            ) : (
              <Editor ref={editor} provider={provider} onRefusal={refuse} />
            )}
          </main>
          <div className="notices">
            {unsent}
            <RefusalNotice message={refusal} dismiss={goOn} />
            <ConnectionNotice status={status} />
          </div>
        </div>
      );
  }
}
