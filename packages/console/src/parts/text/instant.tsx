import { useEffect, useState } from "react";
import { exactly, inWords } from "./instants.ts";

type Props = {
  at: string | number | null;
  never?: string;
  /** Shows the exact time too, because touch and keyboard users cannot read a title. */
  isExact?: boolean;
};

/** A relative time, with the exact time in its title. */
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
