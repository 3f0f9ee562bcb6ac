import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { canKeep, findOnlyStore, leaveToSignIn, NoWayIn, places } from "../session/member.ts";
import { findStore } from "../session/places.ts";
import { KnownStores } from "../stores/known-stores.tsx";

/** `given`: the store that the address names. `error`: why the last sign-on in this tab has failed. */
type Props = { back: string; given: string | undefined; error: unknown };

/** Signs a member in through the store's identity provider, in this window. */
export function WithMember({ back, given, error: refused }: Props) {
  const [remembered] = useState(places.remembered);
  const [listed] = useState(places.listed);
  const [isOther, setOther] = useState(false);
  const known = given ?? remembered;
  const only = useQuery({
    queryKey: ["only store"],
    queryFn: findOnlyStore,
    enabled: canKeep && known === undefined,
  });
  const isRefused = refused !== undefined && !(refused instanceof NoWayIn);
  const { isBusy, error, run } = useAct((store: string) =>
    // The provider still has the refused person's session, and would send the same person again.
    leaveToSignIn(store, back, { prompt: isRefused ? "login" : undefined, isStep: true }),
  );
  const shown = error ?? refused;
  const isGone = shown instanceof NoWayIn && shown.isStoreGone;
  const store = isOther || isGone ? undefined : (known ?? only.data ?? undefined);
  const named = listed.find(({ id }) => id === store);
  return (
    <section className="card" aria-labelledby="with-member">
      <div className="form">
        <h2 id="with-member">With your own account</h2>
        {shown !== undefined && <Why error={shown} />}
        {!canKeep ? (
          <p className="hint hint-warn">
            Your browser does not let this page store data, which a sign-in through a provider needs. Allow
            cookies and site data for this page and reload it, or sign in with a key.
          </p>
        ) : store !== undefined ? (
          <>
            <p className="quiet">
              {named ? (
                <>
                  You sign in to <strong>{named.name}</strong> through the provider
                </>
              ) : (
                "You sign in through the provider"
              )}{" "}
              of your store, and return here.
            </p>
            {!named && given !== undefined && remembered !== undefined && given !== remembered && (
              <p className="hint hint-warn">
                This address is for another store than the one that you signed in to last. Continue only if
                you trust the person who sent it to you.
              </p>
            )}
            {isRefused && (
              <p className="quiet">
                The provider will ask you to sign in, so you can choose another account.
              </p>
            )}
            <div className="form-actions">
              <button type="button" className="button" disabled={isBusy} onClick={() => run(store)}>
                {isRefused ? "Sign in again" : "Sign in as a member"}
              </button>
              <button type="button" className="button-word" onClick={() => setOther(true)}>
                Another store
              </button>
            </div>
          </>
        ) : only.isLoading ? (
          <SkeletonRows rows={2} />
        ) : (
          <AskStore isBusy={isBusy} onStore={run} />
        )}
      </div>
    </section>
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

/** A stranger must not learn which stores the service has, so only the browser's own list is shown (ADR 49). */
function AskStore({ isBusy, onStore }: { isBusy: boolean; onStore: (store: string) => void }) {
  const [typed, setTyped] = useState("");
  const [isTried, setTried] = useState(false);
  const [stores, setStores] = useState(places.listed);
  const store = findStore(typed);
  return (
    <>
      {stores.length > 0 && (
        <KnownStores
          stores={stores}
          act="Sign in to"
          isBusy={isBusy}
          onStore={onStore}
          onRemove={(id) => {
            places.forget(id);
            setStores(places.listed());
          }}
        />
      )}
      <Form
        noValidate
        onSubmit={() => {
          setTried(true);
          if (store !== undefined) onStore(store);
        }}
      >
        <p className="quiet">
          {stores.length > 0 ? "Or another store?" : "Which store is yours?"} You enter this once: after you
          have signed in, this browser remembers the store.
        </p>
        <Field
          label="Store ID"
          hint="Or paste the address for members. An administrator of your store finds it under Members."
          value={typed}
          onType={setTyped}
          autoComplete="off"
          spellCheck={false}
          fault={
            isTried && store === undefined
              ? "This is neither a store ID nor an address for members."
              : undefined
          }
        />
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            Continue
          </button>
        </div>
      </Form>
    </>
  );
}
