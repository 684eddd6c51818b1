/** Moving between pages without loading the application anew. */

const listeners = new Set<() => void>();
let visits = 0;

function announce(): void {
  visits += 1;
  for (const listener of listeners) listener();
}

window.addEventListener("popstate", announce);

export function navigate(path: string): void {
  window.history.pushState(null, "", path);
  window.scrollTo(0, 0);
  announce();
}

/** Show another address for the page that is open; it stays as it is. */
export function showAddress(path: string): void {
  window.history.replaceState(window.history.state, "", path);
}

/** Whether this page is the one the application was loaded with. */
export function isFirstVisit(): boolean {
  return visits === 0;
}

export function subscribeToVisits(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Grows with each page visited; the address that a page shows may change meanwhile. */
export function visitNumber(): number {
  return visits;
}
