import { useEffect } from "react";
import { showAddress } from "../navigation";
import { moved } from "../routes";

/** Keeps the address bar on the page's own path, whichever former one it was opened under. */
export function useCanonicalAddress(path: string | null): void {
  useEffect(() => {
    const address = path === null ? null : moved(window.location, path);
    if (address !== null) showAddress(address);
  }, [path]);
}
