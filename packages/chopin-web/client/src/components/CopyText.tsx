/** Copying a text, or at least seeing it where the browser doesn't let a page copy. */

import * as Dialog from "@radix-ui/react-dialog";
import { useState } from "react";

export function CopyText({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const [open, setOpen] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setOpen(true);
    }
  };
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <button type="button" className="button button--primary" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy my text"}
      </button>
      <Dialog.Trigger asChild>
        <button type="button" className="button">
          Show it
        </button>
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog">
          <Dialog.Title className="dialog__title">The text as you had it</Dialog.Title>
          <Dialog.Description className="quiet">Select what you need and copy it.</Dialog.Description>
          <textarea className="field dialog__text" readOnly value={text} aria-label="The text as you had it" />
          <p className="actions">
            <Dialog.Close asChild>
              <button type="button" className="button">
                Close
              </button>
            </Dialog.Close>
          </p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
