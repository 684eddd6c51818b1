import { useSyncExternalStore } from "react";
import type { Provider } from "../sync/provider";
import type { Status } from "../sync/status";

/** What can be seen of an open document at present. */
export function useStatus(provider: Provider): Status {
  return useSyncExternalStore(provider.subscribe, provider.getStatus);
}
