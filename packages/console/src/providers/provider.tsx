import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { addressOf, isHalfMade } from "../add-provider/steps.ts";
import { Copyable } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { stateOf, UNREGISTERED } from "../parts/profiles.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { Words } from "../parts/text/words.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Adopt } from "./adopt.tsx";
import { Doctor } from "./doctor.tsx";
import { Drift } from "./drift.tsx";
import { forPeople } from "./for-people.ts";
import { ProviderActs } from "./provider-acts.tsx";
import { ProviderMark } from "./provider-mark.tsx";
import { SetupLinks } from "./setup-links.tsx";
import { TestSignOn } from "./test-sign-on.tsx";

export function ProviderScreen() {
  const { realm = "", id = "" } = useParams<{ realm: string; id: string }>();
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["providers", id],
    queryFn: () => admin.profiles(realm).get(id),
    refetchInterval: 15_000,
  });
  const profile = query.data?.data;
  return (
    <Screen
      title={profile?.name ?? "Provider"}
      heading={
        profile && (
          <span className="marked">
            <ProviderMark of={profile} />
            <span>{profile.name}</span>
          </span>
        )
      }
      crumb={{ to: "/providers", label: "Providers" }}
    >
      <Asked query={query} skeleton={<SkeletonRows rows={8} />}>
        {({ data, links }) => <Shown realmId={realm} profile={data} links={links} />}
      </Asked>
    </Screen>
  );
}

type Props = { realmId: string; profile: Profile; links: ProfileLinks };

function Shown({ realmId, profile, links }: Props) {
  const can = useCan();
  return (
    <div className="stack-wide">
      {!can("administer") && <NotOffered act="administer" />}
      {!profile.enabled && can("administer") && <Disabled realmId={realmId} profile={profile} />}
      <Drift realmId={realmId} profile={profile} />
      <Adopt realmId={realmId} profile={profile} />
      <Facts realmId={realmId} profile={profile} links={links} />
      <section className="stack" aria-labelledby="requirements">
        <h2 id="requirements">The nine requirements</h2>
        {can("run_checks") ? (
          <Doctor realmId={realmId} profileId={profile.id} />
        ) : (
          <NotOffered act="run_checks" />
        )}
      </section>
      <section className="stack" aria-labelledby="test">
        <div>
          <h2 id="test">Test sign-on</h2>
          <p className="quiet">
            Sign in once as a person. Every check is shown here, with both sides. No customer or token is
            created.
          </p>
        </div>
        {isHalfMade(profile) ? (
          <p className="quiet small">This is possible once the provider has a client ID and a secret.</p>
        ) : profile.flow === "direct" ? (
          <p className="quiet small">
            A direct provider sends people to the storefront, not here, so it cannot be tested.
          </p>
        ) : can("test_sign_on") ? (
          <TestSignOn realmId={realmId} profile={profile} />
        ) : (
          <NotOffered act="test_sign_on" />
        )}
      </section>
      <section className="card stack" aria-labelledby="setup-links">
        <div className="stack-tight">
          <h2 id="setup-links">Set-up links</h2>
          <p className="quiet">
            For the provider’s administrator, who needs no account: a page with the values to register there,
            and with the requirements that are met. It has no secret and nothing of shoppers.
          </p>
        </div>
        <SetupLinks realmId={realmId} profileId={profile.id} />
      </section>
      {can("administer") && (
        <section className="stack" aria-labelledby="change">
          <h2 id="change">Change</h2>
          <ProviderActs realmId={realmId} profile={profile} />
        </section>
      )}
    </div>
  );
}

/** The way back to the steps, for a provider that people cannot use yet. */
function Disabled({ realmId, profile }: Pick<Props, "realmId" | "profile">) {
  if (profile.flow === "direct") return null;
  const at = addressOf({ realm: realmId, profile: profile.id });
  return (
    <div className="hint row apart">
      <p>
        {isHalfMade(profile)
          ? "This provider is not finished."
          : "This provider is disabled: people cannot sign in through it."}
      </p>
      <Link className="button button-small" href={at}>
        Continue setup
      </Link>
    </div>
  );
}

function Facts({ realmId, profile, links }: Props) {
  const isForMembers = useIsForMembers(realmId);
  const { tone, word } = stateOf(profile);
  return (
    <section className="card stack" aria-label="About the provider">
      <div className="row">
        <Pill tone={tone}>{word}</Pill>
        <span className="quiet">
          last changed <Instant at={profile.meta.health.since} isExact />
        </span>
      </div>
      <dl className="facts">
        <dt>Issuer</dt>
        <dd>{profile.meta.issuer ?? "not read yet"}</dd>
        <dt>Hosts</dt>
        <dd>{profile.meta.endpoint_hosts.join(", ") || "not read yet"}</dd>
        <dt>Client ID at the provider</dt>
        <dd>{profile.client_id === UNREGISTERED ? "not entered yet" : <code>{profile.client_id}</code>}</dd>
        <dt>New people</dt>
        <dd>
          {isForMembers
            ? "are refused, unless they were invited under Members"
            : profile.provisioning === "create"
              ? "become customers when they first sign in"
              : "are refused: only existing customers may sign in"}
        </dd>
        {profile.flow === "direct" && (
          <>
            <dt>Flow</dt>
            <dd>direct: the storefront sends shoppers to the provider itself</dd>
          </>
        )}
      </dl>
      {profile.meta.refused_logout && (
        <div className="hint hint-warn">
          <p>
            A sign-out that the provider announced was refused{" "}
            <Instant at={profile.meta.refused_logout.at} isExact />.{" "}
            <Words
              of={forPeople(`${profile.meta.refused_logout.means} ${profile.meta.refused_logout.remedy}`)}
            />
          </p>
        </div>
      )}
      {profile.meta.issuer_found && (
        <p className="hint hint-warn">
          The provider’s document names another issuer, first seen{" "}
          <Instant at={profile.meta.issuer_found.since} isExact />:{" "}
          <code>{profile.meta.issuer_found.issuer}</code>. Sign-ons fail until the provider’s administrator
          corrects it, or until you change the address here.
        </p>
      )}
      <div className="stack-tight">
        <strong>Redirect URI at the provider</strong>
        <Copyable text={links["callback-endpoint"]} what="redirect URI" />
      </div>
    </section>
  );
}
