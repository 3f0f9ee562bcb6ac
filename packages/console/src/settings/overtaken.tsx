import type { Draft } from "../parts/forms/use-draft.ts";

type Props<T> = {
  of: readonly Draft<T>[];
  inWords: (saved: T) => string;
  /** As long as it is being saved, what comes back is one's own. */
  isBusy: boolean;
};

/** Two people change the same thing: the second one is told before they save over it, and loses nothing that they typed. */
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
