/** The bar above a document: where it belongs, its title, whether it is saved, who else is here. */

import { documentsPath } from "../routes";
import type { Provider } from "../sync/provider";
import type { Status } from "../sync/status";
import type { OpenedChannel } from "../wire/channels";
import { Link } from "./Link";
import { PeopleList } from "./PeopleList";
import { SaveState } from "./SaveState";
import { TitleEditor } from "./TitleEditor";

export interface DocumentHeaderProps {
  provider: Provider;
  status: Status;
  opened: OpenedChannel;
  title: string;
}

export function DocumentHeader({ provider, status, opened, title }: DocumentHeaderProps) {
  const { owner, name } = opened.repository;
  return (
    <header className="bar">
      <nav className="bar__way" aria-label="Breadcrumb">
        <Link to={documentsPath(owner, name)} className="bar__back">
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M10 3 5 8l5 5" />
          </svg>
          <span>
            <span className="bar__owner">{owner}/</span>
            {name}
          </span>
        </Link>
      </nav>
      <TitleEditor provider={provider} channelId={opened.channel.id} title={title} canRename={status.canEdit} />
      <div className="bar__state">
        <Standing status={status} />
        <SaveState status={status} />
        <PeopleList members={status.members} you={status.you} />
      </div>
    </header>
  );
}

/** Why there is nothing to type into, where that is so. */
function Standing({ status }: { status: Status }) {
  if (status.metadata?.archivedAt !== undefined) return <span className="badge">Archived</span>;
  if (status.you !== null && !status.canEdit) return <span className="badge">Read only</span>;
  return null;
}
