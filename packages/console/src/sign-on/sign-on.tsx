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
import { actorInWords, whoMustAct } from "./journey.ts";
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
      crumb={{ to: "/find", label: "Look up" }}
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
          <Instant at={started_at} isExact />, in all{" "}
          {duration(Date.parse(updated_at) - Date.parse(started_at))}
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
      <h2 id="caller">Where it came from</h2>
      <dl className="facts">
        <dt>Browser</dt>
        <dd>{device || "not stated"}</dd>
        <dt>Network</dt>
        <dd>{network ? <code>{network}</code> : "not known"}</dd>
        <dt>Sent back to</dt>
        <dd>{redirect_uri ? <code>{redirect_uri}</code> : "not stated"}</dd>
        <dt>Id</dt>
        <dd>
          <code>{signOn.id}</code> <Copy text={signOn.id} what="id of the sign-on" word />
        </dd>
      </dl>
    </section>
  );
}

function Why({ signOn, isOfMember }: { signOn: SignOn; isOfMember: boolean }) {
  const providers = useProviders();
  const provider = providers.data?.find(({ id }) => id === signOn.profile_id);
  const actor = whoMustAct(signOn);
  return (
    <section className="card stack" aria-label="Why, and who must act">
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
        {signOn.test && <span className="quiet">a test sign-on: nobody was signed in</span>}
        {signOn.customer_id && <Link href={`/customers/${signOn.customer_id}`}>The customer</Link>}
      </div>
      {signOn.means && (
        <h2>
          <Words of={signOn.means} />
        </h2>
      )}
      <dl className="facts">
        {actor !== "nobody" && (
          <>
            <dt>Who must act</dt>
            <dd>{actorInWords(signOn, isOfMember)}</dd>
          </>
        )}
        {signOn.remedy && (
          <>
            <dt>What to do</dt>
            <dd>
              <Words of={signOn.remedy} />
            </dd>
          </>
        )}
        {signOn.idp_answer && (
          <>
            <dt>The provider said</dt>
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
                  , told to the {isOfMember ? "console" : "storefront"} as <code>{signOn.error}</code>
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
            what="what to tell the provider’s administrator"
            label="Copy for the provider’s administrator"
          />
        </p>
      )}
    </section>
  );
}

const CALLS = {
  discovery: "its discovery document",
  authorize: "the sign-in itself",
  token: "its token endpoint",
  userinfo: "its UserInfo endpoint",
};

function IdpAnswer({ answer }: { answer: NonNullable<SignOn["idp_answer"]> }) {
  const { call, error, error_description } = answer;
  const came = answerInWords(answer);
  return (
    <>
      At {CALLS[call]}: {came}
      {came && error && ", "}
      {error && <code>{error}</code>}
      {error_description && <>: “{error_description}”</>}
    </>
  );
}
