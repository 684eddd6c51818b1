import { useEffect, useRef, useState } from "react";
import { navigate } from "../navigation";
import { loadDocumentPage } from "../pages/loadDocumentPage";
import { documentPath } from "../routes";
import { createChannel } from "../wire/channels";
import type { Refusal } from "../wire/http";
import { refusalOf } from "./useRemote";

export type Creation = { step: "idle" | "creating" | "opening" } | { step: "failed"; refusal: Refusal };

/** Creates a document and opens it; one at a time. */
export function useCreateDocument(owner: string, repository: string): [Creation, () => void] {
  const [creation, setCreation] = useState<Creation>({ step: "idle" });
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);

  const create = async () => {
    if (creation.step === "creating" || creation.step === "opening") return;
    setCreation({ step: "creating" });
    try {
      const { channel, location } = await createChannel(owner, repository);
      if (!here.current) return;
      setCreation({ step: "opening" });
      await loadDocumentPage();
      if (here.current)
        navigate(location ?? documentPath(channel.repositoryOwner, channel.repositoryName, channel.slug));
    } catch (error) {
      if (here.current) setCreation({ step: "failed", refusal: refusalOf(error) });
    }
  };
  return [creation, () => void create()];
}
