import { useEffect, useRef, useState } from "react";
import type { Provider } from "../sync/provider";
import { renameChannel } from "../wire/channels";
import type { Refusal } from "../wire/http";
import { refusalOf } from "./useRemote";

export interface Rename {
  /** Null while nobody is renaming. */
  draft: string | null;
  saving: boolean;
  refusal: Refusal | null;
  begin(): void;
  change(draft: string): void;
  cancel(): void;
  save(): void;
}

/** Renaming a document. The draft stays until the server has taken it, or the person gives up. */
export function useRename(provider: Provider, channelId: string, title: string): Rename {
  const [draft, setDraft] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [saving, setSaving] = useState(false);
  const attempt = useRef(new AbortController());
  useEffect(() => () => attempt.current.abort(), []);

  const close = () => {
    attempt.current.abort();
    setDraft(null);
    setRefusal(null);
    setSaving(false);
  };

  const save = async () => {
    const wanted = draft?.trim() ?? "";
    if (draft === null || saving || wanted === "") return;
    if (wanted === title) return close();
    attempt.current = new AbortController();
    const { signal } = attempt.current;
    setSaving(true);
    setRefusal(null);
    try {
      const { channel } = await renameChannel(channelId, wanted);
      // Told to the provider in any case: it knows whether something newer has come meanwhile.
      provider.learn(channel);
      if (!signal.aborted) close();
    } catch (error) {
      if (signal.aborted) return;
      setRefusal(refusalOf(error));
      setSaving(false);
    }
  };

  return {
    draft,
    saving,
    refusal,
    begin: () => setDraft(title),
    change: setDraft,
    cancel: close,
    save: () => void save(),
  };
}
