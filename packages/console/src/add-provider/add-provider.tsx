import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { RemoveProvider } from "../providers/provider-acts.tsx";
import { productOf } from "../providers/provider-mark.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Credentials } from "./credentials.tsx";
import { FindProvider } from "./find-provider.tsx";
import { Finish } from "./finish.tsx";
import { Register } from "./register.tsx";
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
        <Framed at="provider" before={<Unfinished />}>
          <FindProvider onMade={(made) => go(addressOf({ ...made, step: "callback" }))} />
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
          <Framed at={step} hrefOf={(word) => (stepOf(data, word) === word ? addressAt(word) : undefined)}>
            <StepForm
              at={step}
              realmId={realm}
              profile={data}
              links={links}
              recipe={recipe ?? productOf(data)?.key ?? ""}
              onStep={(next) => go(addressAt(next))}
            />
            {!data.enabled && <Leave realmId={realm} profile={data} />}
          </Framed>
        );
      }}
    </Asked>
  );
}

/** For a person who stops here: later, or for good. */
function Leave({ realmId, profile }: { realmId: string; profile: Profile }) {
  const queries = useQueryClient();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <div className="quiet small">
      <p>
        You can leave now and continue later: {profile.name} stays under Providers. Started by mistake?{" "}
        <button type="button" className="button-word" onClick={() => setRemoving(true)}>
          Remove it
        </button>
      </p>
      {isRemoving && (
        <RemoveProvider
          realmId={realmId}
          profile={profile}
          onClose={() => setRemoving(false)}
          onDone={() => queries.invalidateQueries({ queryKey: ["providers"] })}
        />
      )}
    </div>
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
  const shared = { realmId, profile, recipe };
  if (at === "callback") return <Register {...shared} links={links} onNext={() => onStep("secret")} />;
  if (at === "secret") return <Credentials {...shared} onStep={onStep} />;
  return <Finish realmId={realmId} profile={profile} />;
}

type FramedProps = {
  at: Step;
  /** The address of a step that the provider has come to. */
  hrefOf?: (step: Step) => string | undefined;
  /** Shown above the step. */
  before?: ReactNode;
  children: ReactNode;
};

function Framed({ at, hrefOf = () => undefined, before, children }: FramedProps) {
  const step = useRef<HTMLElement>(null);
  // The pressed button was removed with its step, so the focus is lost.
  useLayoutEffect(() => {
    if (at !== "provider") step.current?.focus();
  }, [at]);
  return (
    <div className="stack">
      <ol className="steps" aria-label="Steps">
        {STEPS.map(({ word, name }) => {
          const href = word === at ? undefined : hrefOf(word);
          return (
            <li key={word} aria-current={word === at ? "step" : undefined}>
              {href ? <Link href={href}>{name}</Link> : name}
            </li>
          );
        })}
      </ol>
      {before}
      <section
        className="card stack"
        aria-label={STEPS.find(({ word }) => word === at)?.name}
        ref={step}
        tabIndex={-1}
      >
        {children}
      </section>
    </div>
  );
}
