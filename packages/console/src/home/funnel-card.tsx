import type { UseQueryResult } from "@tanstack/react-query";
import { useSearch } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import type { Provider } from "../parts/profiles.ts";
import type { Figures, Grouping } from "./figures.ts";
import { FunnelTable } from "./funnel-table.tsx";
import type { Change } from "./use-address.ts";

type Props = {
  query: UseQueryResult<Figures>;
  grouping: Grouping;
  nameOf(id: string | null): string;
  providers: readonly Provider[] | undefined;
  change: Change;
};

const GROUPINGS = [
  ["profile", "By provider"],
  ["key", "By key"],
] as const;

/** How far sign-ons come, by provider or by key. */
export function FunnelCard({ query, grouping, nameOf, providers, change }: Props) {
  const search = useSearch();
  const addressOf = (id: string) => {
    const next = new URLSearchParams(search);
    next.set(grouping === "key" ? "key" : "provider", id);
    return `/?${next}`;
  };
  const providerOf = (id: string | null) =>
    grouping === "profile" ? providers?.find((one) => one.id === id) : undefined;
  return (
    <section className="card" aria-labelledby="funnel">
      <div className="card-head">
        <h2 id="funnel">How far they come</h2>
        <fieldset className="segments">
          <legend className="only-read-out">Group sign-ons</legend>
          {GROUPINGS.map(([value, label]) => (
            <button
              key={value}
              type="button"
              aria-pressed={grouping === value}
              onClick={() =>
                change({ by: value === "key" ? "key" : undefined, provider: undefined, key: undefined })
              }
            >
              {label}
            </button>
          ))}
        </fieldset>
      </div>
      <Asked query={query} skeleton={<SkeletonBlock />}>
        {(figures) => (
          <div className="stack">
            <FunnelTable
              figures={figures}
              grouping={grouping}
              nameOf={nameOf}
              providerOf={providerOf}
              addressOf={addressOf}
            />
            <Explained step={figures.step} grouping={grouping} />
          </div>
        )}
      </Asked>
    </section>
  );
}

function Explained({ step, grouping }: { step: Figures["step"]; grouping: Grouping }) {
  return (
    <p className="quiet small">
      Started counts redirects to a provider, up to a minute later. Anyone can cause a redirect, so it can be
      too high. Started but not returned: never came back.{" "}
      {grouping === "key"
        ? "A public client's redirect has no key, and a key is known at the latest when the code is redeemed."
        : `The times are how long the provider took in its latest ${step} with sign-ons: half of them took no longer than p50, 95 of 100 no longer than p95.`}
    </p>
  );
}
