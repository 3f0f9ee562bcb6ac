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
            Another person has saved a new value:{" "}
            <strong>{overtaken.map(({ saved }) => inWords(saved) || "nothing").join(", ")}</strong>. What you
            entered is still here, and replaces the new value when you save.
          </p>
          <p>
            <button
              type="button"
              className="button button-plain button-small"
              onClick={() => {
                for (const { forget } of overtaken) forget();
              }}
            >
              Use the new value
            </button>
          </p>
        </div>
      )}
    </div>
  );
}
