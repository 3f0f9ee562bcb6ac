import { useState } from "react";
import { noteRefusal } from "../../session/session.ts";

/** Runs one act at a time, and keeps its error. */
export function useAct<Args extends unknown[]>(
  act: (...args: Args) => Promise<unknown>,
  onDone?: () => void,
) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (...args: Args): void => {
    setBusy(true);
    setError(undefined);
    act(...args)
      .then(
        () => onDone?.(),
        (refusal: unknown) => {
          noteRefusal(refusal);
          setError(refusal);
        },
      )
      .finally(() => setBusy(false));
  };
  return { isBusy, error, run };
}
