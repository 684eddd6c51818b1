/** The addresses of this application's pages. */

export type Route =
  | { page: "projects" }
  | { page: "documents"; owner: string; repository: string }
  | { page: "document"; owner: string; repository: string; slug: string }
  | { page: "channel"; id: string }
  | { page: "unknown" };

export interface Address {
  pathname: string;
  search: string;
  hash: string;
}

export function routeOf(pathname: string): Route {
  const parts = segments(pathname);
  if (parts === null) return { page: "unknown" };
  if (parts.length === 0) return { page: "projects" };
  const [root, owner, repository, slug] = parts;
  if (root === "documents" && owner !== undefined && repository !== undefined) {
    if (parts.length === 3) return { page: "documents", owner, repository };
    if (parts.length === 4 && slug !== undefined) return { page: "document", owner, repository, slug };
  }
  // Former addresses of the same pages.
  if (root === "repositories" && parts.length === 3 && owner !== undefined && repository !== undefined) {
    return { page: "documents", owner, repository };
  }
  if (root === "channels" && parts.length === 2 && owner !== undefined) return { page: "channel", id: owner };
  return { page: "unknown" };
}

export function documentsPath(owner: string, repository: string): string {
  return `/documents/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}`;
}

export function documentPath(owner: string, repository: string, slug: string): string {
  return `${documentsPath(owner, repository)}/${encodeURIComponent(slug)}`;
}

/** The address to show instead of this one, with its query and fragment; null when it is the right one already. */
export function moved(address: Address, path: string): string | null {
  const [now, wanted] = [segments(address.pathname), segments(path)];
  if (now !== null && wanted !== null && now.join("/") === wanted.join("/")) return null;
  return path + address.search + address.hash;
}

/** Null for an address with broken percent signs. */
function segments(pathname: string): string[] | null {
  try {
    return pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}
