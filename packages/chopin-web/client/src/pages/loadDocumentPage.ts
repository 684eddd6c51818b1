/** The editor is most of the application, so it is fetched when the first document is about to be opened. */
export function loadDocumentPage() {
  return import("./DocumentPage");
}
