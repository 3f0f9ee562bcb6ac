import type { KnownStore } from "../session/store-list.ts";

type Props = {
  stores: readonly KnownStore[];
  /** Read out before each name. */
  act: "Switch to" | "Sign in to";
  isBusy: boolean;
  onStore: (id: string) => void;
  onRemove: (id: string) => void;
};

/** The stores at which this browser has signed in, each to sign in there and to remove it from the list. */
export function KnownStores({ stores, act, isBusy, onStore, onRemove }: Props) {
  return (
    <ul className="known-stores" aria-label="Stores of this browser">
      {stores.map(({ id, name }) => (
        <li key={id}>
          <button type="button" className="known-store" disabled={isBusy} onClick={() => onStore(id)}>
            <span className="only-read-out">{act} </span>
            {name}
          </button>
          <button
            type="button"
            className="known-remove"
            aria-label={`Remove ${name} from this list`}
            title="Remove from this list"
            disabled={isBusy}
            onClick={() => onRemove(id)}
          >
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="m4 4 8 8m0-8-8 8" />
            </svg>
          </button>
        </li>
      ))}
    </ul>
  );
}
