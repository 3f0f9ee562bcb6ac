import { useSearchParams } from "wouter";

/** The part of the address that Home keeps its choices in. `undefined` and an empty text remove a choice. */
export type Change = (choices: Record<string, string | undefined>) => void;

export function useAddress(): [URLSearchParams, Change] {
  const [search, setSearch] = useSearchParams();
  const change: Change = (choices) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(choices))
          if (value) next.set(name, value);
          else next.delete(name);
        return next;
      },
      { replace: true },
    );
  return [search, change];
}
