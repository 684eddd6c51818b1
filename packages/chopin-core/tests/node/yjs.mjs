// Reads a JSON list of jobs, does each on a fresh Yjs document, and answers what became of it. Bytes travel in base64, and
// offsets are UTF-16 units, as everywhere in Yjs.
import * as Y from "yjs";

const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
const text = (array) => Buffer.from(array).toString("base64");

function work(job) {
  const document = new Y.Doc();
  if (job.client !== undefined) document.clientID = job.client;
  const source = document.getText("source");
  for (const update of job.apply ?? []) Y.applyUpdate(document, bytes(update));
  const updates = [];
  document.on("update", (update) => updates.push(text(update)));
  for (const [start, remove, insert] of job.edits ?? []) {
    document.transact(() => {
      if (remove) source.delete(start, remove);
      if (insert) source.insert(start, insert);
    });
  }
  const positions = (job.mint ?? []).map(([index, assoc]) =>
    text(Y.encodeRelativePosition(Y.createRelativePositionFromTypeIndex(source, index, assoc))),
  );
  const resolved = (job.resolve ?? []).map((position) => {
    const found = Y.createAbsolutePositionFromRelativePosition(Y.decodeRelativePosition(bytes(position)), document);
    return found?.type === source ? found.index : null;
  });
  return {
    text: source.toString(),
    update: text(Y.encodeStateAsUpdate(document)),
    vector: text(Y.encodeStateVector(document)),
    whole: document.store.pendingStructs === null && document.store.pendingDs === null,
    updates,
    positions,
    resolved,
  };
}

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const jobs = JSON.parse(Buffer.concat(chunks).toString("utf8"));
process.stdout.write(JSON.stringify(jobs.map(work)));
