import { useEffect, useState } from "react";
import { exactly, inWords } from "./instants.ts";

/** A time as people say it; the exact one is in its title. */
export function Instant({ at, never = "never" }: { at: string | number | null; never?: string }) {
  const now = useNow(30_000);
  if (at === null) return <span>{never}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={exactly(at)}>
      {inWords(at, now)}
    </time>
  );
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
