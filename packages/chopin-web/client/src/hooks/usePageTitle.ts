import { useEffect } from "react";

/** What the browser's tab says; null where another part of the page has the word. */
export function usePageTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) document.title = `${title} · Chopin`;
  }, [title]);
}
