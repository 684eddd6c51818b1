import { useEffect, useState } from "react";

/** True while `condition` holds, and for a while afterwards. */
export function useLingering(condition: boolean, milliseconds: number): boolean {
  const [lingering, setLingering] = useState(condition);
  useEffect(() => {
    if (condition) {
      setLingering(true);
      return;
    }
    const timer = setTimeout(() => setLingering(false), milliseconds);
    return () => clearTimeout(timer);
  }, [condition, milliseconds]);
  return condition || lingering;
}
