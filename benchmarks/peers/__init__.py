"""
Chopin beside two other systems that let people write one document together: pycrdt-websocket and Hocuspocus.

All in one run on one machine, with the same document of 32 KiB, the same edits and the same client, taking turns:

- Chopin: ``chopin serve`` on PostgreSQL. It commits an edit, and only then acknowledges and relays it.
- pycrdt-websocket: its ASGI server on uvicorn with an ``SQLiteYStore``, as its documentation shows; all settings are its
  defaults. It relays an edit at once and begins to write it at the same time. What the echo says to a writer is that the edit
  was applied in memory.
- Hocuspocus: its server with the database extension on the PostgreSQL that Chopin uses, as its documentation shows; all
  settings are its defaults, so a document is stored two seconds after the last edit and at the latest ten after the first.
  Its sync status says that the edit was applied in memory.

An edit is a word of ten letters, one Yjs update. Nobody compresses. The client is one process that only cuts frames and notes
the time (:mod:`benchmarks.peers.wire`), and everything it sends was made before. The three servers run all the time, two of
them idle. Versions and settings are printed with every run.

What the figures do not say: the others do less for an edit, not only in durability; Chopin also tries it on a copy of the
document, checks the outcome and keeps counters. And both peers can be set up to write sooner, at a cost that is not measured
here.
"""
