import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { UNREGISTERED } from "../parts/profiles.ts";
import { Screen } from "../parts/screen.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Finish } from "./finish.tsx";
import { NameIt } from "./name-it.tsx";
import { Credentials, Register } from "./register.tsx";

const STEPS = ["Provider", "Callback", "Secret", "Test and finish"] as const;
type At = 0 | 1 | 2 | 3;

/** The URL has the current step, so that a reload, or another person with the URL, continues there. */
export function AddProvider() {
  const can = useCan();
  const [search, setSearch] = useSearchParams();
  const realm = search.get("realm");
  const profile = search.get("profile");
  const recipe = search.get("recipe") ?? "other";
  const to = (values: Record<string, string>) => setSearch({ ...Object.fromEntries(search), ...values });
  return (
    <Screen
      title="Add a provider"
      lead="Four steps, and nothing changes for shoppers before the last one."
      crumb={{ to: "/providers", label: "Providers" }}
    >
      {!can("administer") ? (
        <NotOffered act="administer" />
      ) : realm && profile ? (
        <Begun realmId={realm} profileId={profile} recipe={recipe} step={search.get("step")} to={to} />
      ) : (
        <Framed at={0}>
          <NameIt onMade={(made) => to(made)} />
        </Framed>
      )}
    </Screen>
  );
}

type Begun = {
  realmId: string;
  profileId: string;
  recipe: string;
  step: string | null;
  to: (values: Record<string, string>) => void;
};

function Begun({ realmId, profileId, recipe, step, to }: Begun) {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["providers", profileId],
    queryFn: () => admin.profiles(realmId).get(profileId),
  });
  return (
    <Asked query={query}>
      {({ data, links }) => {
        const at = stepOf(data, step);
        return (
          <Framed at={at}>
            <Step at={at} realmId={realmId} profile={data} links={links} recipe={recipe} to={to} />
            {at < 3 && (
              <p className="quiet small">
                Begun by mistake? It can be{" "}
                <Link href={`/realms/${realmId}/providers/${profileId}`}>removed</Link>.
              </p>
            )}
          </Framed>
        );
      }}
    </Asked>
  );
}

/**
 * The profile shows the completed steps, except whether the callback is registered, which only the reader
 * knows.
 */
function stepOf({ client_id }: Profile, step: string | null): At {
  if (client_id !== UNREGISTERED) return 3;
  return step === "secret" ? 2 : 1;
}

type StepProps = {
  at: At;
  realmId: string;
  profile: Profile;
  links: ProfileLinks;
  recipe: string;
  to: Begun["to"];
};

function Step({ at, realmId, profile, links, recipe, to }: StepProps) {
  if (at === 1) return <Register links={links} recipe={recipe} onNext={() => to({ step: "secret" })} />;
  if (at === 2)
    return <Credentials realmId={realmId} profile={profile} onBack={() => to({ step: "callback" })} />;
  return <Finish realmId={realmId} profile={profile} />;
}

function Framed({ at, children }: { at: At; children: ReactNode }) {
  const step = useRef<HTMLElement>(null);
  // The pressed button was removed with its step, so the focus is lost.
  useLayoutEffect(() => {
    if (at > 0) step.current?.focus();
  }, [at]);
  return (
    <>
      <ol className="steps" aria-label="Steps">
        {STEPS.map((name, index) => (
          <li key={name} aria-current={index === at ? "step" : undefined}>
            {name}
          </li>
        ))}
      </ol>
      <section className="card stack" aria-label={STEPS[at]} ref={step} tabIndex={-1}>
        {children}
      </section>
    </>
  );
}
