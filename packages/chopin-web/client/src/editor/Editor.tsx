/** The place in the page where the document is written. */

import { useEffect, useRef } from "react";
import type { Provider } from "../sync/provider";
import { openSurface } from "./surface";
import "../styles/editor.css";

export interface EditorProps {
  provider: Provider;
  /** Told when something could not be typed or pasted, with the reason for the person. */
  onRefusal(why: string): void;
}

export function Editor({ provider, onRefusal }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return;
    const surface = openSurface(host.current, provider, onRefusal);
    return () => surface.destroy();
  }, [provider, onRefusal]);
  return <div ref={host} className="editor" data-testid="editor" />;
}
