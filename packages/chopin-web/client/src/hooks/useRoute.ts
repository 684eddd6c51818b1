import { useMemo, useSyncExternalStore } from "react";
import { subscribeToVisits, visitNumber } from "../navigation";
import { type Route, routeOf } from "../routes";

/** The page to show: read from the address at each visit, so correcting the address of an open page opens nothing. */
export function useRoute(): Route {
  const visit = useSyncExternalStore(subscribeToVisits, visitNumber);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is read anew at each visit.
  return useMemo(() => routeOf(window.location.pathname), [visit]);
}
