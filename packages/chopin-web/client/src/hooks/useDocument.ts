import { useEffect, useState } from "react";
import type { Provider } from "../sync/provider";
import { thisTab } from "../sync/thisTab";
import type { Channel } from "../wire/channels";

/** The provider of a document for as long as its page is shown. */
export function useDocument(channel: Channel): Provider | null {
  const [provider, setProvider] = useState<Provider | null>(null);
  useEffect(() => {
    const entered = thisTab.enter(channel.id);
    entered.learn(channel);
    setProvider(entered);
    return () => thisTab.leave(channel.id);
  }, [channel]);
  return provider;
}
