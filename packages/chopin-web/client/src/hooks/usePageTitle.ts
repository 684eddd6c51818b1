import { useEffect } from "react";

/** What the browser's tab says. */
export function usePageTitle(title: string | null): void {
  useEffect(() => {
    document.title = title === null || title === "" ? "Chopin" : `${title} · Chopin`;
  }, [title]);
}
