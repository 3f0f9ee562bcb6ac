import { useState } from "react";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { canKeep, findPlace, leaveToSignIn } from "../session/member.ts";

/** Signs a member in through the store's identity provider, in this window. */
export function WithMember({ back, error: refused }: { back: string; error: unknown }) {
  const [place] = useState(() => findPlace(location.search));
  const [usual] = useState(() => findPlace(""));
  const isRefused = refused !== undefined;
  const { isBusy, error, run } = useAct(async () => {
    // The provider still has the refused person's session, and would send the same person again.
    if (place) await leaveToSignIn(place, back, isRefused ? "login" : undefined);
  });
  return (
    <section className="card" aria-labelledby="with-member">
      <div className="form">
        <h2 id="with-member">As yourself</h2>
        {!canKeep ? (
          <p className="hint hint-warn">
            Your browser does not let this page keep anything, and without that nobody comes back from a
            provider. Allow cookies and site data for it, then load the page again; or sign in with a key.
          </p>
        ) : place ? (
          <>
            <p className="quiet">
              Through the provider that your store has chosen for its people. You come back here.
            </p>
            {usual && usual.store !== place.store && (
              <p className="hint hint-warn">
                This address leads to another store than the one that you signed in to last. Go on only if you
                know who sent it to you.
              </p>
            )}
            {isRefused && <Problem error={refused} />}
            {isRefused && (
              <p className="quiet">The provider will ask who you are: you can be somebody else.</p>
            )}
            {error !== undefined && <Problem error={error} />}
            <div className="form-actions">
              <button type="button" className="button" disabled={isBusy} onClick={() => run()}>
                {isRefused ? "Sign in again" : "Sign in as a member"}
              </button>
            </div>
          </>
        ) : (
          <p className="quiet">
            Open the address that an administrator of your store has sent you: it says which store is yours.
            Administrators find it under Members.
          </p>
        )}
      </div>
    </section>
  );
}
