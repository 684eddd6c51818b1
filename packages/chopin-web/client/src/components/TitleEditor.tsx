/** The document's title; a press on it makes it a field. */

import { type KeyboardEvent, useEffect, useRef } from "react";
import { useArrival } from "../hooks/useArrival";
import { useRename } from "../hooks/useRename";
import type { Provider } from "../sync/provider";

const LONGEST_TITLE = 120;

export interface TitleEditorProps {
  provider: Provider;
  channelId: string;
  title: string;
  canRename: boolean;
}

export function TitleEditor({ provider, channelId, title, canRename }: TitleEditorProps) {
  const rename = useRename(provider, channelId, title);
  const heading = useArrival<HTMLHeadingElement>();
  const opener = useRef<HTMLButtonElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isOpen = rename.draft !== null;
  const wasOpen = useRef(false);

  useEffect(() => {
    if (isOpen) field.current?.select();
    // Only where the field has just gone: focus must not be taken from the text at other times.
    else if (wasOpen.current) opener.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);

  if (rename.draft === null) {
    return (
      <h1 className="title" ref={heading} tabIndex={-1}>
        {canRename ? (
          <button type="button" className="title__open" ref={opener} onClick={rename.begin} title="Rename document">
            <span className="title__text">{title}</span>
            <span className="visually-hidden">, rename document</span>
          </button>
        ) : (
          <span className="title__text">{title}</span>
        )}
      </h1>
    );
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      rename.cancel();
    }
  };
  return (
    <form
      className="title title--open"
      aria-label="Rename document"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        rename.save();
      }}
    >
      <h1 className="visually-hidden">{title}</h1>
      <input
        ref={field}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field.
        autoFocus
        className="field title__field"
        aria-label="Document title"
        aria-describedby={rename.refusal === null ? undefined : "title-refusal"}
        aria-invalid={rename.refusal !== null}
        value={rename.draft}
        maxLength={LONGEST_TITLE}
        autoComplete="off"
        onChange={(event) => rename.change(event.target.value)}
      />
      <button type="submit" className="button button--primary" disabled={rename.saving || rename.draft.trim() === ""}>
        {rename.saving ? "Saving…" : "Save"}
      </button>
      <button type="button" className="button" onClick={rename.cancel}>
        Cancel
      </button>
      {rename.refusal !== null && (
        <p id="title-refusal" role="alert" className="title__refusal">
          {rename.refusal.message}
        </p>
      )}
    </form>
  );
}
