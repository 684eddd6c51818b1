/** A document's socket in the browser, and the question why one was refused. */

export interface SocketHandlers {
  opened(): void;
  received(message: string): void;
  closed(code: number): void;
}

export interface SocketHandle {
  send(message: string): void;
  close(): void;
}

export type OpenSocket = (handlers: SocketHandlers) => SocketHandle;

/** The HTTP status a refused socket would have been answered with; 0 when nobody answers. */
export type Probe = () => Promise<number>;

const PROBE_PATIENCE = 10_000;

export function browserSocket(channelId: string): OpenSocket {
  return (handlers) => {
    const url = new URL(address(channelId), window.location.href);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url);
    socket.onopen = () => handlers.opened();
    socket.onclose = (event) => handlers.closed(event.code);
    socket.onmessage = (event: MessageEvent<unknown>) => {
      if (typeof event.data === "string") handlers.received(event.data);
    };
    return {
      send: (message) => {
        // While it closes nothing arrives any more; what it was gets sent again on the next one.
        if (socket.readyState === WebSocket.OPEN) socket.send(message);
      },
      close: () => socket.close(),
    };
  };
}

export function browserProbe(channelId: string): Probe {
  return async () => {
    try {
      const response = await fetch(address(channelId), {
        headers: { "x-chopin-socket-probe": "1" },
        cache: "no-store",
        credentials: "same-origin",
        signal: AbortSignal.timeout(PROBE_PATIENCE),
      });
      return response.status;
    } catch {
      return 0;
    }
  };
}

function address(channelId: string): string {
  return `/ws?channel=${encodeURIComponent(channelId)}`;
}
