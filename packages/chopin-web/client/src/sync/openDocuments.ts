/** The documents open in this tab, among them those whose page was left before everything was saved. */

import { browserProbe, browserSocket } from "../wire/socket";
import { browserClock } from "./clock";
import { Provider } from "./provider";

const open = new Map<string, { provider: Provider; visitors: number }>();

export function enterDocument(channelId: string): Provider {
  watchBrowser();
  const entry = open.get(channelId) ?? { provider: connectTo(channelId), visitors: 0 };
  entry.visitors += 1;
  open.set(channelId, entry);
  return entry.provider;
}

/** Leaving a page is no reason to lose what was typed on it: the connection stays until all of it is acknowledged. */
export function leaveDocument(channelId: string): void {
  const entry = open.get(channelId);
  if (entry === undefined) return;
  entry.visitors -= 1;
  const { provider } = entry;
  const closeWhenDone = () => {
    const { save, ended } = provider.getStatus();
    if (entry.visitors > 0 || (save !== "saved" && ended !== "deleted")) return;
    unsubscribe();
    if (open.get(channelId) === entry) open.delete(channelId);
    provider.destroy();
  };
  const unsubscribe = provider.subscribe(closeWhenDone);
  provider.flush();
  closeWhenDone();
}

function everyDocument(run: (provider: Provider) => void): void {
  for (const { provider } of open.values()) run(provider);
}

/** Whether closing the tab now would lose something. */
function somethingUnsaved(): boolean {
  return [...open.values()].some(({ provider }) => provider.getStatus().save !== "saved");
}

let watching = false;

/** Let the open documents know what the browser knows about the network and the tab. */
function watchBrowser(): void {
  if (watching) return;
  watching = true;
  window.addEventListener("online", () => everyDocument((provider) => provider.hurry()));
  window.addEventListener("offline", () => everyDocument((provider) => provider.doubt()));
  window.addEventListener("pagehide", () => everyDocument((provider) => provider.flush()));
  window.addEventListener("beforeunload", (event) => {
    if (somethingUnsaved()) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") everyDocument((provider) => provider.flush());
    else everyDocument((provider) => provider.hurry());
  });
}

function connectTo(channelId: string): Provider {
  return new Provider({
    clock: browserClock,
    openSocket: browserSocket(channelId),
    probe: browserProbe(channelId),
    random: Math.random,
    newId: () => crypto.randomUUID(),
  });
}
