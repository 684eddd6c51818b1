/** The documents open in this tab, among them those whose page was left before everything was saved. */

import type { Provider } from "./provider";

interface Entry {
  provider: Provider;
  /** How many pages show it. */
  shown: number;
}

export class OpenDocuments {
  private readonly connect: (channelId: string) => Provider;
  private readonly entries = new Map<string, Entry>();

  constructor(connect: (channelId: string) => Provider) {
    this.connect = connect;
  }

  /** The provider of a document; the one that is still at work, where there is one. */
  enter(channelId: string): Provider {
    const entry = this.entries.get(channelId) ?? { provider: this.connect(channelId), shown: 0 };
    entry.shown += 1;
    this.entries.set(channelId, entry);
    return entry.provider;
  }

  /** Leaving a page is no reason to lose what was typed on it: the connection stays until all of it is acknowledged. */
  leave(channelId: string): void {
    const entry = this.entries.get(channelId);
    if (entry === undefined) return;
    entry.shown -= 1;
    const { provider } = entry;
    const closeWhenDone = () => {
      const { save, ended } = provider.getStatus();
      if (entry.shown > 0 || (save !== "saved" && ended !== "deleted")) return;
      unsubscribe();
      this.entries.delete(channelId);
      provider.destroy();
    };
    const unsubscribe = provider.subscribe(closeWhenDone);
    provider.flush();
    closeWhenDone();
  }

  each(run: (provider: Provider) => void): void {
    for (const { provider } of this.entries.values()) run(provider);
  }

  /** Whether closing the tab now would lose something. */
  get unsaved(): boolean {
    return [...this.entries.values()].some(({ provider }) => provider.getStatus().save !== "saved");
  }
}
