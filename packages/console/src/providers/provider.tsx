import type { Profile, ProfileChange, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { ConfirmByName } from "../parts/forms/confirm-by-name.tsx";
import { Copyable } from "../parts/forms/copy.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { stateOf } from "../parts/profiles.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Adopt } from "./adopt.tsx";
import { Doctor } from "./doctor.tsx";
import { Drift } from "./drift.tsx";
import { MoveProvider } from "./move-provider.tsx";
import { isWithoutSecret, NextSecret } from "./next-secret.tsx";
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
            Sign in once as a person. Every check is shown here, with both sides. No customer and no token
            come of it.
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
          <Changes realmId={realmId} profile={profile} />
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
        <dt>Its hosts</dt>
        <dd>{profile.meta.endpoint_hosts.join(", ") || "not read yet"}</dd>
        <dt>Client id there</dt>
        <dd>
          <code>{profile.client_id}</code>
        </dd>
        <dt>Somebody new</dt>
        <dd>
          {isForMembers
            ? "is refused, unless they were invited under Members"
            : profile.provisioning === "create"
              ? "becomes a customer when they first sign in"
              : "is refused: only existing customers may sign in"}
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

function Changes({ realmId, profile }: Omit<Props, "links">) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const isForMembers = useIsForMembers(realmId);
  const [open, setOpen] = useState<"delete" | "move" | "secret">();
  const stale = () => queries.invalidateQueries({ queryKey: ["providers"] });
  const { isBusy, error, run } = useAct(async (change: ProfileChange, done: string) => {
    await admin.profiles(realmId).update(profile.id, change, { basedOn: profile });
    say(done);
    await stale();
  });
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <div className="row">
        <button
          type="button"
          className="button button-plain"
          disabled={isBusy}
          onClick={() =>
            run(
              { enabled: !profile.enabled },
              profile.enabled ? "The provider is disabled." : "The provider is enabled.",
            )
          }
        >
          {profile.enabled ? "Disable" : "Enable"}
        </button>
        <button type="button" className="button button-plain" onClick={() => setOpen("secret")}>
          {isWithoutSecret(profile) ? "Enter the client secret" : "Change the client secret"}
        </button>
        <button type="button" className="button button-plain" onClick={() => setOpen("move")}>
          Change address and client
        </button>
        <button type="button" className="button button-bad-plain" onClick={() => setOpen("delete")}>
          Remove
        </button>
      </div>
      {open === "secret" && (
        <NextSecret realmId={realmId} profile={profile} onClose={() => setOpen(undefined)} onDone={stale} />
      )}
      {open === "move" && (
        <MoveProvider realmId={realmId} profile={profile} onClose={() => setOpen(undefined)} onDone={stale} />
      )}
      {open === "delete" && (
        <ConfirmByName
          title={`Remove ${profile.name}?`}
          name={profile.name}
          what="provider’s name"
          act="Remove the provider"
          onClose={() => setOpen(undefined)}
          onConfirm={async () => {
            await admin.profiles(realmId).delete(profile.id);
            say(`${profile.name} is removed.`);
            go("/providers");
            await stale();
          }}
        >
          <p>
            Everybody who came through it is signed out at once, and nobody can sign in through it any more.{" "}
            {isForMembers
              ? "Members who came through it must be removed and invited again, also where another provider takes its place."
              : "The customers stay."}
          </p>
        </ConfirmByName>
      )}
    </>
  );
}
