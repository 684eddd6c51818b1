/** What is known about a document beside its text, and which of two pieces of news is the newer. */

export interface Metadata {
  title: string;
  slug: string;
  updatedAt: string;
  archivedAt?: string | undefined;
}

/** Rename and archive each move `updatedAt` on, so a late answer can be told from the present state. */
export function newer(known: Metadata | null, news: Metadata): Metadata {
  if (known !== null && instant(news.updatedAt) < instant(known.updatedAt)) return known;
  const { title, slug, updatedAt, archivedAt } = news;
  return archivedAt === undefined ? { title, slug, updatedAt } : { title, slug, updatedAt, archivedAt };
}

/** Microseconds: `Date` drops everything below a millisecond. */
function instant(iso: string): number {
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? "";
  const micros = Number(fraction.slice(3, 6).padEnd(3, "0"));
  return Date.parse(iso) * 1000 + micros;
}
