import { useEffect, useState } from "react";

/** True once `condition` has held for a while, false at once when it no longer does. */
export function useSettled(condition: boolean, milliseconds: number): boolean {
  const [settled, setSettled] = useState(condition);
  useEffect(() => {
    if (!condition) {
      setSettled(false);
      return;
    }
    const timer = setTimeout(() => setSettled(true), milliseconds);
    return () => clearTimeout(timer);
  }, [condition, milliseconds]);
  return condition && settled;
}
