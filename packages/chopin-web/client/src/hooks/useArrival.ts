import { type RefObject, useEffect, useRef } from "react";
import { isFirstVisit } from "../navigation";

/** Puts the focus on a page's heading when one arrives from another page, as loading a new page would. */
export function useArrival<E extends HTMLElement>(): RefObject<E | null> {
  const heading = useRef<E>(null);
  useEffect(() => {
    if (!isFirstVisit()) heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}
