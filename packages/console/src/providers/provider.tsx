import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { Copyable } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { stateOf } from "../parts/profiles.ts";
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
import { ProviderActs } from "./provider-acts.tsx";
import { TestSignOn } from "./test-sign-on.tsx";

export function ProviderScreen() {
  const { realm = "", id = "" } = useParams<{ realm: string; id: string }>();
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["providers", id],
    queryFn: () => admin.profiles(realm).get(id),
    refetchInterval: 15_000,
  });
  return (
    <Screen title={query.data?.data.name ?? "Provider"} crumb={{ to: "/providers", label: "Providers" }}>
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
        {profile.flow === "direct" ? (
          <p className="quiet small">
            A direct provider sends people to the storefront, not here, so it cannot be tested.
          </p>
        ) : can("test_sign_on") ? (
          <TestSignOn realmId={realmId} profile={profile} />
        ) : (
          <NotOffered act="test_sign_on" />
        )}
      </section>
      <section className="stack" aria-labelledby="change">
        <h2 id="change">Change</h2>
        {can("administer") ? (
          <ProviderActs realmId={realmId} profile={profile} />
        ) : (
          <NotOffered act="administer" />
        )}
      </section>
    </div>
  );
}

function Facts({ realmId, profile, links }: Props) {
  const isForMembers = useIsForMembers(realmId);
  const { tone, word } = stateOf(profile);
  return (
    <section className="card stack" aria-label="What it is">
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
        <dt>Client id at the provider</dt>
        <dd>
          <code>{profile.client_id}</code>
        </dd>
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
            A sign-out that it announced was refused <Instant at={profile.meta.refused_logout.at} isExact />.{" "}
            <Words of={`${profile.meta.refused_logout.means} ${profile.meta.refused_logout.remedy}`} />
          </p>
        </div>
      )}
      {profile.meta.issuer_found && (
        <p className="hint hint-warn">
          Its document names another issuer, first seen{" "}
          <Instant at={profile.meta.issuer_found.since} isExact />:{" "}
          <code>{profile.meta.issuer_found.issuer}</code>. Sign-ons will fail until its administrator sets
          that right, or until you change the address here.
        </p>
      )}
      <div className="stack-tight">
        <strong>Callback, registered at the provider</strong>
        <Copyable text={links["callback-endpoint"]} what="callback" />
      </div>
    </section>
  );
}
