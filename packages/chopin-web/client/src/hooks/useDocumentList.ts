import { useCallback, useEffect, useRef, useState } from "react";
import { type Channel, type ChannelPage, listChannels } from "../wire/channels";
import type { Refusal } from "../wire/http";
import { type Remote, refusalOf, useRemote } from "./useRemote";

export interface DocumentList {
  first: Remote<ChannelPage>;
  retry(): void;
  /** Another query is being asked; what is listed still answers the one before. */
  renewing: boolean;
  /** All that is loaded; what changed places between two pages is listed once. */
  channels: Channel[];
  hasMore: boolean;
  loadingMore: boolean;
  moreFailed: Refusal | null;
  loadMore(): void;
}

/** The documents of a repository that match a query, page by page. */
export function useDocumentList(owner: string, repository: string, query: string): DocumentList {
  const ask = useCallback(
    (signal: AbortSignal) => listChannels({ owner, repository, query }, signal),
    [owner, repository, query],
  );
  const [first, retry] = useRemote(ask);
  const [pages, setPages] = useState<ChannelPage[]>([]);
  const [loadingMore, setLoadingMore] = useState(false);
  const [moreFailed, setMoreFailed] = useState<Refusal | null>(null);
  const current = useRef<AbortController>(new AbortController());

  useEffect(() => {
    if (first.state !== "ready") return;
    const left = new AbortController();
    current.current = left;
    setPages([first.value]);
    setLoadingMore(false);
    setMoreFailed(null);
    return () => left.abort();
  }, [first]);

  const cursor = pages.at(-1)?.nextCursor;

  const loadMore = async () => {
    if (cursor === undefined || loadingMore) return;
    const { signal } = current.current;
    setLoadingMore(true);
    setMoreFailed(null);
    try {
      const page = await listChannels({ owner, repository, query, cursor }, signal);
      if (!signal.aborted) setPages((known) => [...known, page]);
    } catch (error) {
      if (!signal.aborted) setMoreFailed(refusalOf(error));
    } finally {
      if (!signal.aborted) setLoadingMore(false);
    }
  };

  const channels = [
    ...new Map(pages.flatMap((page) => page.channels).map((channel) => [channel.id, channel])).values(),
  ];
  return {
    first,
    retry,
    renewing: first.state === "loading" && pages.length > 0,
    channels,
    hasMore: cursor !== undefined,
    loadingMore,
    moreFailed,
    loadMore: () => void loadMore(),
  };
}
