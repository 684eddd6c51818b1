/** The place in the page where the document is written. */

import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { Provider } from "../sync/provider";
import { openSurface, type Surface } from "./surface";
import "../styles/editor.css";

export interface EditorProps {
  ref: Ref<Pick<Surface, "focus">>;
  provider: Provider;
  /** Told when something could not be typed or pasted, with the reason for the person. */
  onRefusal(why: string): void;
}

export function Editor({ ref, provider, onRefusal }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface>(null);
  useImperativeHandle(ref, () => ({ focus: () => surface.current?.focus() }), []);
  useEffect(() => {
    if (host.current === null) return;
    const opened = openSurface(host.current, provider, onRefusal);
    surface.current = opened;
    return () => {
      surface.current = null;
      opened.destroy();
    };
  }, [provider, onRefusal]);
  return <div ref={host} className="editor" data-testid="editor" />;
}
