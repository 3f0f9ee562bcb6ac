import type { TestSignOn as Offer, Profile, SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useAct } from "../parts/forms/use-act.ts";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { useNow } from "../parts/text/instant.tsx";
import { Outcome } from "../parts/text/outcome.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { Timeline } from "../sign-on/timeline.tsx";
import { forPeople } from "./for-people.ts";

type Begun = { offer: Offer; isBlocked: boolean };

/** Runs a complete sign-on of the current person in a popup, and shows its checks when the record exists. */
export function TestSignOn({ realmId, profile }: { realmId: string; profile: Profile }) {
  const admin = useAdmin();
  const [begun, setBegun] = useState<Begun>();
  const { isBusy, error, run } = useAct(async () => {
    // Opened while the click is handled: browsers block windows that open later.
    const popup = window.open("", "latchkey-test", "popup,width=560,height=760");
    try {
      const { data: offer } = await admin.profiles(realmId).testSignOn(profile.id);
      if (popup) {
        // The provider's page must not be able to navigate this page.
        popup.opener = null;
        popup.location.replace(offer.url);
      }
      setBegun({ offer, isBlocked: popup === null });
    } catch (refusal) {
      popup?.close();
      throw refusal;
    }
  });
  return (
    <div className="stack">
      <p>
        <button type="button" className="button button-plain" disabled={isBusy} onClick={() => run()}>
          {begun ? "Test again" : "Test sign-on"}
        </button>
      </p>
      {error !== undefined && <Problem error={error} />}
      {begun && <Watched key={begun.offer.reference} {...begun} />}
    </div>
  );
}

const EVERY_MS = 1000;
/** The URL is valid for ten minutes, and the sign-on at the provider for ten more. */
const OPEN_MS = 2 * 600_000;

function Watched({ offer, isBlocked }: Begun) {
  const admin = useAdmin();
  // Measured by the local clock only, which may differ from the service's.
  const [begunAt] = useState(Date.now);
  const isOver = useNow(EVERY_MS) > begunAt + OPEN_MS;
  const query = useQuery({
    queryKey: ["sign-ons", "test", offer.reference],
    queryFn: async () =>
      (await admin.signOns.list({ filter: `eq(reference,${offer.reference})`, limit: 1 })).data[0] ?? null,
    refetchInterval: ({ state }) => (state.data || isOver ? false : EVERY_MS),
  });
  return (
    <div aria-live="polite">
      {query.error && <Problem error={query.error} again={() => void query.refetch()} />}
      {query.data ? (
        <Ended signOn={query.data} />
      ) : isOver ? (
        <p className="hint">The sign-in was not finished in time, so this test is over. Test again.</p>
      ) : (
        <div className="stack">
          <p className="hint">
            {isBlocked
              ? "Your browser has blocked the window. "
              : "Sign in in the other window, with any account of the provider. No customer or token is created. "}
            {isBlocked && (
              <a href={offer.url} target="_blank" rel="noreferrer">
                Open it here
              </a>
            )}
          </p>
          <SkeletonRows rows={4} />
        </div>
      )}
    </div>
  );
}

function Ended({ signOn }: { signOn: SignOn }) {
  return (
    <div className="stack test-ended">
      <div className="row">
        <Outcome of={signOn.outcome} />
        <span>
          Reference{" "}
          <Link className="mono" href={`/sign-ons/${signOn.id}`}>
            {signOn.reference}
          </Link>
        </span>
      </div>
      {signOn.means && (
        <p>
          <strong>
            <Words of={signOn.means} />
          </strong>
        </p>
      )}
      {signOn.remedy && (
        <p>
          <Words of={forPeople(signOn.remedy)} />
        </p>
      )}
      <Timeline signOn={signOn} />
    </div>
  );
}
