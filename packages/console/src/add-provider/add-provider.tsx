import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Finish } from "./finish.tsx";
import { NameIt } from "./name-it.tsx";
import { recipeOf } from "./recipes.ts";
import { Credentials, Register } from "./register.tsx";
import { addressOf, STEPS, type Step, stepOf } from "./steps.ts";
import { Unfinished } from "./unfinished.tsx";

/** Each step is an address, so reload, Back and Forward work, and another person can continue there. */
export function AddProvider() {
  const can = useCan();
  const [, go] = useLocation();
  const [search] = useSearchParams();
  const realm = search.get("realm");
  const profile = search.get("profile");
  return (
    <Screen
      title="Add a provider"
      lead="Four steps, and nothing changes for shoppers before the last one."
      crumb={{ to: "/providers", label: "Providers" }}
    >
      {!can("administer") ? (
        <NotOffered act="administer" isWhole />
      ) : realm && profile ? (
        <Begun
          realm={realm}
          profile={profile}
          recipe={search.get("recipe") ?? undefined}
          asked={search.get("step")}
        />
      ) : (
        <Framed at="provider">
          <Unfinished />
          <NameIt onMade={(made) => go(addressOf({ ...made, step: "callback" }))} />
        </Framed>
      )}
    </Screen>
  );
}

type BegunProps = { realm: string; profile: string; recipe: string | undefined; asked: string | null };

function Begun({ realm, profile, recipe, asked }: BegunProps) {
  const admin = useAdmin();
  const [, go] = useLocation();
  const query = useQuery({
    queryKey: ["providers", profile],
    queryFn: () => admin.profiles(realm).get(profile),
  });
  const at = query.data && stepOf(query.data.data, asked);
  const addressAt = (step: Step) => addressOf({ realm, profile, step, recipe });
  const here = at && addressAt(at);
  // The address may name no step, or one that the provider has not come to.
  useEffect(() => {
    if (here && at !== asked) go(here, { replace: true });
  }, [here, at, asked, go]);
  return (
    <Asked query={query}>
      {({ data, links }) => {
        const step = stepOf(data, asked);
        return (
          <Framed at={step}>
            <StepForm
              at={step}
              realmId={realm}
              profile={data}
              links={links}
              recipe={recipe ?? recipeOf(data.discovery_url)}
              onStep={(next) => go(addressAt(next))}
            />
            {!data.enabled && (
              <p className="quiet small">
                You can leave now and continue later: it waits under Providers. Started by mistake? It can be{" "}
                <Link href={`/realms/${realm}/providers/${profile}`}>removed</Link>.
              </p>
            )}
          </Framed>
        );
      }}
    </Asked>
  );
}

type StepFormProps = {
  at: Step;
  realmId: string;
  profile: Profile;
  links: ProfileLinks;
  recipe: string;
  onStep: (step: Step) => void;
};

function StepForm({ at, realmId, profile, links, recipe, onStep }: StepFormProps) {
  if (at === "callback") return <Register links={links} recipe={recipe} onNext={() => onStep("secret")} />;
  if (at === "secret") return <Credentials realmId={realmId} profile={profile} onStep={onStep} />;
  return <Finish realmId={realmId} profile={profile} />;
}

function Framed({ at, children }: { at: Step; children: ReactNode }) {
  const step = useRef<HTMLElement>(null);
  // The pressed button was removed with its step, so the focus is lost.
  useLayoutEffect(() => {
    if (at !== "provider") step.current?.focus();
  }, [at]);
  return (
    <>
      <ol className="steps" aria-label="Steps">
        {STEPS.map(({ word, name }) => (
          <li key={word} aria-current={word === at ? "step" : undefined}>
            {name}
          </li>
        ))}
      </ol>
      <section
        className="card stack"
        aria-label={STEPS.find(({ word }) => word === at)?.name}
        ref={step}
        tabIndex={-1}
      >
        {children}
      </section>
    </>
  );
}
