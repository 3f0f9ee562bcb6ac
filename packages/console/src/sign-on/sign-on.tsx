import type { SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { useProviders } from "../parts/profiles.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { duration } from "../parts/text/instants.ts";
import { Outcome } from "../parts/text/outcome.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { answerInWords } from "./answer-words.ts";
import { wordsForCaller } from "./caller-words.ts";
import { actorInWords, whoCanFix } from "./journey.ts";
import { letterOf } from "./letter.ts";
import { Timeline } from "./timeline.tsx";

export function SignOnScreen() {
  const { id = "" } = useParams<{ id: string }>();
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", id],
    queryFn: async () => (await admin.signOns.get(id)).data,
  });
  const reference = query.data?.reference;
  return (
    <Screen
      title={reference ? `Sign-on ${reference}` : "Sign-on"}
      heading={
        reference ? (
          <>
            Sign-on <span className="mono">{reference}</span>
          </>
        ) : (
          "Sign-on"
        )
      }
      crumb={{ to: "/sign-ons", label: "Sign-ons" }}
    >
      <Asked query={query} skeleton={<SkeletonRows rows={8} />}>
        {(signOn) => <Record signOn={signOn} />}
      </Asked>
    </Screen>
  );
}

function Record({ signOn }: { signOn: SignOn }) {
  const isOfMember = useIsForMembers(signOn.realm_id);
  const { started_at, updated_at } = signOn.meta.timestamps;
  return (
    <div className="stack-wide">
      <Why signOn={signOn} isOfMember={isOfMember} />
      <section aria-labelledby="journey">
        <h2 id="journey">What happened</h2>
        <p className="quiet">
          <Instant at={started_at} isExact />, {duration(Date.parse(updated_at) - Date.parse(started_at))} in
          total
        </p>
        <Timeline signOn={signOn} isOfMember={isOfMember} />
      </section>
      <Caller signOn={signOn} />
    </div>
  );
}

/** Browser, network and request id, so that support need not ask for them. */
function Caller({ signOn }: { signOn: SignOn }) {
  const { browser, operating_system, network, redirect_uri } = signOn;
  const device = [browser, operating_system].filter(Boolean).join(" on ");
  return (
    <section className="stack" aria-labelledby="caller">
      <h2 id="caller">Browser and network</h2>
      <dl className="facts">
        <dt>Browser</dt>
        <dd>{device || "not stated"}</dd>
        <dt>Network</dt>
        <dd>{network ? <code>{network}</code> : "not known"}</dd>
        <dt>Redirect URI</dt>
        <dd>{redirect_uri ? <code>{redirect_uri}</code> : "not stated"}</dd>
        <dt>ID</dt>
        <dd>
          <code>{signOn.id}</code> <Copy text={signOn.id} what="ID of the sign-on" word />
        </dd>
      </dl>
    </section>
  );
}

function Why({ signOn, isOfMember }: { signOn: SignOn; isOfMember: boolean }) {
  const providers = useProviders();
  const provider = providers.data?.find(({ id }) => id === signOn.profile_id);
  const actor = whoCanFix(signOn);
  return (
    <section className="card stack" aria-label="Why, and who can fix it">
      <div className="row">
        <Outcome of={signOn.outcome} />
        {signOn.profile_name && (
          <span>
            through{" "}
            {provider ? (
              <Link href={`/realms/${provider.realm.id}/providers/${provider.id}`}>
                {signOn.profile_name}
              </Link>
            ) : (
              signOn.profile_name
            )}
          </span>
        )}
        {signOn.test && <span className="quiet">a test sign-on: no one was signed in</span>}
        {signOn.customer_id && <Link href={`/customers/${signOn.customer_id}`}>The customer</Link>}
      </div>
      {signOn.means && (
        <h2>
          <Words of={signOn.means} />
        </h2>
      )}
      <dl className="facts">
        <ForCaller signOn={signOn} />
        {actor !== "none" && (
          <>
            <dt>Who can fix it</dt>
            <dd>{actorInWords(signOn, isOfMember)}</dd>
          </>
        )}
        {signOn.remedy && (
          <>
            <dt>How to fix it</dt>
            <dd>
              <Words of={signOn.remedy} />
            </dd>
          </>
        )}
        {signOn.idp_answer && (
          <>
            <dt>Answer of the provider</dt>
            <dd>
              <IdpAnswer answer={signOn.idp_answer} />
            </dd>
          </>
        )}
        {signOn.reason && (
          <>
            <dt>Reason</dt>
            <dd>
              <code>{signOn.reason}</code>
              {signOn.error && (
                <>
                  , sent to the {isOfMember ? "console" : "storefront"} as <code>{signOn.error}</code>
                </>
              )}
            </dd>
          </>
        )}
      </dl>
      {signOn.outcome === "failed" && actor === "provider" && (
        <p>
          <Copy
            text={letterOf(signOn, provider?.meta.issuer ?? null)}
            what="text for the provider’s administrator"
            label="Copy for the provider’s administrator"
          />
        </p>
      )}
    </section>
  );
}

function ForCaller({ signOn }: { signOn: SignOn }) {
  const words = wordsForCaller(signOn);
  if (words === undefined) return null;
  return (
    <>
      <dt>What to tell the caller</dt>
      <dd>
        “{words}” <Copy text={words} what="what to tell the caller" word />
      </dd>
    </>
  );
}

const CALLS = {
  discovery: "Discovery document",
  authorize: "Authorization endpoint",
  token: "Token endpoint",
  userinfo: "UserInfo endpoint",
};

function IdpAnswer({ answer }: { answer: NonNullable<SignOn["idp_answer"]> }) {
  const { call, error, error_description } = answer;
  const came = answerInWords(answer);
  return (
    <>
      {CALLS[call]}: {came}
      {came && error && ", "}
      {error && <code>{error}</code>}
      {error_description && <>: “{error_description}”</>}
    </>
  );
}
