import { useEffect, useState } from "react";
import { exactly, inWords } from "./instants.ts";

type Props = {
  at: string | number | null;
  never?: string;
  /** Where one thing is looked at: with the exact time behind it. Fingers and keys do not find a title. */
  isExact?: boolean;
};

/** A time as people say it; the exact one is in its title. */
export function Instant({ at, never = "never", isExact = false }: Props) {
  const now = useNow(30_000);
  if (at === null) return <span>{never}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={exactly(at)}>
      {isExact ? `${inWords(at, now)} (${exactly(at)})` : inWords(at, now)}
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
