/** Which page is shown, and that somebody is signed in. */

import { lazy, type ReactNode, Suspense } from "react";
import { useRemote } from "./hooks/useRemote";
import { useRoute } from "./hooks/useRoute";
import { DocumentsPage } from "./pages/DocumentsPage";
import { loadDocumentPage } from "./pages/loadDocumentPage";
import { Opening } from "./pages/Opening";
import { ProjectsPage } from "./pages/ProjectsPage";
import { NotFound, SignedOut, Trouble } from "./pages/StatePage";
import type { Route } from "./routes";
import { readSession, type Session, signsInWithGitHub } from "./wire/session";

const DocumentPage = lazy(async () => ({ default: (await loadDocumentPage()).DocumentPage }));
const ChannelPage = lazy(async () => ({ default: (await loadDocumentPage()).ChannelPage }));

export function App() {
  const route = useRoute();
  const [session, retry] = useRemote(readSession);
  switch (session.state) {
    case "loading":
      return <Opening what={null} />;
    case "failed":
      if (session.refusal.status === 401)
        return <SignedOut github={signsInWithGitHub(session.refusal.body)} retry={retry} />;
      return <Trouble refusal={session.refusal} retry={retry} />;
    case "ready":
      return pageFor(route, session.value);
  }
}

function pageFor(route: Route, session: Session): ReactNode {
  switch (route.page) {
    case "projects":
      return <ProjectsPage session={session} />;
    case "documents": {
      const { owner, repository } = route;
      return <DocumentsPage key={`${owner}/${repository}`} owner={owner} repository={repository} session={session} />;
    }
    case "document": {
      const { owner, repository, slug } = route;
      return (
        <Suspense fallback={<Opening what="document" />}>
          <DocumentPage
            key={`${owner}/${repository}/${slug}`}
            owner={owner}
            repository={repository}
            slug={slug}
            session={session}
          />
        </Suspense>
      );
    }
    case "channel":
      return (
        <Suspense fallback={<Opening what="document" />}>
          <ChannelPage key={route.id} id={route.id} session={session} />
        </Suspense>
      );
    case "unknown":
      return <NotFound />;
  }
}
