import { useEffect, useState } from "react";
import { exactly, inWords, isRecent } from "./instants.ts";

type Props = {
  at: string | number | null;
  never?: string;
  /** Shows the exact time too, because touch and keyboard users cannot read a title. */
  isExact?: boolean;
  /** The instant lies ahead by its nature: the end of a session, the next attempt. */
  isAhead?: boolean;
};

/**
 * A relative time; an older instant as a date. The exact time is in the title, and beside the text while a control
 * of the same row has the focus (styles/lists.css).
 */
export function Instant({ at, never = "never", isExact = false, isAhead = false }: Props) {
  const now = useNow(30_000);
  if (at === null) return <span>{never}</span>;
  const words = inWords(at, now, { isAhead });
  const exact = exactly(at);
  const both = isRecent(at, now) && words !== exact ? `${words} (${exact})` : exact;
  return (
    <time dateTime={new Date(at).toISOString()} title={exact} data-exact={exact}>
      {isExact ? both : words}
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
