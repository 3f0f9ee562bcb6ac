import { type KeyboardEvent, useRef, useState } from "react";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { leaveToSignIn, NoWayIn, places } from "../session/member.ts";
import { useSession } from "../session/session.ts";
import { KnownStores } from "./known-stores.tsx";

/** The store's name. If this browser has signed in at other stores, it opens the list of them. */
export function StoreSwitch() {
  const { store } = useSession();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [known, setKnown] = useState(places.listed);
  const others = known.filter(({ id }) => id !== store.id);
  // No `prompt`: the person has pressed a button, so the provider may show a page if its session is over.
  const { isBusy, error, run } = useAct((id: string) => leaveToSignIn(id, "/", { isStep: true }));
  if (others.length === 0 && error === undefined) return <strong>{store.name}</strong>;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !isOpen) return;
    // On a phone the list is in the menu, which stays open.
    event.stopPropagation();
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the list, wherever in it the focus is
    <div className="store-switch" onKeyDown={onKeyDown}>
      <button
        type="button"
        className="store-button"
        ref={button}
        aria-expanded={isOpen}
        aria-controls="stores"
        onClick={() => {
          // Another tab may have signed in at another store.
          setKnown(places.listed());
          setOpen(!isOpen);
        }}
      >
        <span>
          <strong>{store.name}</strong>
          <span className="only-read-out"> (switch store)</span>
        </span>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="m5 6.5 3-3 3 3m-6 3 3 3 3-3" />
        </svg>
      </button>
      {isOpen && (
        <div id="stores" className="store-list">
          <KnownStores
            stores={others}
            act="Switch to"
            isBusy={isBusy}
            onStore={run}
            onRemove={(id) => {
              places.forget(id);
              setKnown(places.listed());
              // The pressed button is gone, and with the last store the list.
              button.current?.focus();
            }}
          />
          {error !== undefined && <Why error={error} />}
        </div>
      )}
    </div>
  );
}

const Why = ({ error }: { error: unknown }) =>
  error instanceof NoWayIn ? (
    <p className="hint hint-warn" role="alert">
      {error.message}
    </p>
  ) : (
    <Problem error={error} />
  );
