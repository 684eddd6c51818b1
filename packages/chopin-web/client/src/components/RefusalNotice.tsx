/** Why something could not be typed or pasted. */

export function RefusalNotice({ message, dismiss }: { message: string | null; dismiss(): void }) {
  if (message === null) return null;
  return (
    <div className="notice" role="alert">
      <p>{message}</p>
      <p className="actions">
        <button type="button" className="button" onClick={dismiss}>
          Dismiss
        </button>
      </p>
    </div>
  );
}
