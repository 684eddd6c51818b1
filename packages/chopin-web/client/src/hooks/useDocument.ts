import { useEffect, useState, useSyncExternalStore } from "react";
import { enterDocument, leaveDocument } from "../sync/openDocuments";
import type { Provider } from "../sync/provider";
import type { Status } from "../sync/status";
import type { Channel } from "../wire/channels";

/** The provider of a document for as long as its page is shown. */
export function useDocument(channel: Channel): Provider | null {
  const [provider, setProvider] = useState<Provider | null>(null);
  useEffect(() => {
    const entered = enterDocument(channel.id);
    entered.learn(channel);
    setProvider(entered);
    return () => leaveDocument(channel.id);
  }, [channel]);
  return provider;
}

export function useStatus(provider: Provider): Status {
  return useSyncExternalStore(provider.subscribe, provider.getStatus);
}
