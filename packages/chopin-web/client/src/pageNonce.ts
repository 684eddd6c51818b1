/** The random word that the server put into this page for the styles it allows. */

/** Null where no server has filled it in. */
export function pageNonce(): string | null {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  return nonce === "" || nonce.startsWith("__") ? null : nonce;
}
