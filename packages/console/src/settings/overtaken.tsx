import type { Draft } from "../parts/forms/use-draft.ts";

type Props<T> = {
  of: readonly Draft<T>[];
  inWords: (saved: T) => string;
  /** During a save the new value is the person's own. */
  isBusy: boolean;
};

/** Warns if another person has changed the same value. The typed text stays. */
export function Overtaken<T>({ of, inWords, isBusy }: Props<T>) {
  const overtaken = isBusy ? [] : of.filter(({ isOvertaken }) => isOvertaken);
  return (
    <div role="status">
      {overtaken.length > 0 && (
        <div className="hint hint-warn stack-tight">
          <p>
            Somebody else has saved this meanwhile:{" "}
            <strong>{overtaken.map(({ saved }) => inWords(saved) || "nothing").join(", ")}</strong>. What you
            have typed is still here, and takes the place of theirs when you save it.
          </p>
          <p>
            <button
              type="button"
              className="button button-plain button-small"
              onClick={() => {
                for (const { forget } of overtaken) forget();
              }}
            >
              Show theirs
            </button>
          </p>
        </div>
      )}
    </div>
  );
}
