import { useState } from "react";

export type Draft<T> = ReturnType<typeof useDraft<T>>;

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** What a field shows: what was typed, until it is saved; else what is saved, whoever has saved it. */
export function useDraft<T>(saved: T) {
  const [draft, setDraft] = useState<{ typed: T; seen: T }>();
  // As soon as it is saved, by whomever, it is no draft any more.
  if (draft && isSame(draft.typed, saved)) setDraft(undefined);
  const isChanged = draft !== undefined;
  const value = draft ? draft.typed : saved;
  return {
    value,
    saved,
    isChanged,
    /** Something else was saved since this was first typed over. */
    isOvertaken: isChanged && !isSame(draft.seen, saved),
    type: (typed: T) =>
      setDraft(isSame(typed, saved) ? undefined : { typed, seen: draft ? draft.seen : saved }),
    forget: () => setDraft(undefined),
    /** After this value was saved. What was typed meanwhile stays, and is over this value. */
    settle: () =>
      setDraft((now) => (now && !isSame(now.typed, value) ? { typed: now.typed, seen: value } : undefined)),
  };
}
