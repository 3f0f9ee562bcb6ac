import { useState } from "react";

export type Draft<T> = ReturnType<typeof useDraft<T>>;

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The value of a field: the typed value until it is saved, else the saved value. */
export function useDraft<T>(saved: T) {
  const [draft, setDraft] = useState<{ typed: T; seen: T }>();
  // A draft ends when its value is saved, even if another person has saved it.
  if (draft && isSame(draft.typed, saved)) setDraft(undefined);
  const isChanged = draft !== undefined;
  const value = draft ? draft.typed : saved;
  return {
    value,
    saved,
    isChanged,
    /** Another value was saved since the draft began. */
    isOvertaken: isChanged && !isSame(draft.seen, saved),
    type: (typed: T) =>
      setDraft(isSame(typed, saved) ? undefined : { typed, seen: draft ? draft.seen : saved }),
    forget: () => setDraft(undefined),
    /** Call it after a save. Text typed meanwhile stays a draft, based on the saved value. */
    settle: () =>
      setDraft((now) => (now && !isSame(now.typed, value) ? { typed: now.typed, seen: value } : undefined)),
  };
}
