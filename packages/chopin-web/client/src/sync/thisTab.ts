/** The open documents of this tab, told what the browser knows about the network and the tab itself. */

import { browserProbe, browserSocket } from "../wire/socket";
import { browserClock } from "./clock";
import { OpenDocuments } from "./openDocuments";
import { Provider } from "./provider";

export const thisTab = new OpenDocuments(
  (channelId) =>
    new Provider({
      clock: browserClock,
      openSocket: browserSocket(channelId),
      probe: browserProbe(channelId),
      random: Math.random,
      newId: () => crypto.randomUUID(),
    }),
);

window.addEventListener("online", () => thisTab.each((provider) => provider.hurry()));
window.addEventListener("offline", () => thisTab.each((provider) => provider.doubt()));
window.addEventListener("pagehide", () => thisTab.each((provider) => provider.flush()));
window.addEventListener("beforeunload", (event) => {
  if (thisTab.unsaved) event.preventDefault();
});
document.addEventListener("visibilitychange", () => {
  const hidden = document.visibilityState === "hidden";
  thisTab.each((provider) => (hidden ? provider.flush() : provider.hurry()));
});
