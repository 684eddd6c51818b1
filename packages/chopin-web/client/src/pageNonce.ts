/** The random word that the server put into this page for the styles it allows. */

/** What stands in the page as it was built; the server puts the word there. */
const MARK = "__CSP_NONCE__";

export function pageNonce(): string | null {
  return filledIn(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content);
}

/** Null where no server has filled it in. Any word will do, also one that begins like the mark: one in 4,096 does. */
export function filledIn(content: string | undefined): string | null {
  return content === undefined || content === "" || content === MARK ? null : content;
}
