import type { SignOnStatistics } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { FirstHour } from "../first-hour/first-hour.tsx";
import { RangeChoice } from "../parts/charts/range-choice.tsx";
import { type Range, useRange, useStatistics } from "../parts/charts/ranges.ts";
import { useUsage } from "../parts/charts/usage.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { pathOf, stateOf, useProviders } from "../parts/profiles.ts";
import { Screen } from "../parts/screen.tsx";
import { duration } from "../parts/text/instants.ts";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { useAdmin } from "../session/session.ts";
import { latestMs } from "./series.ts";
import { SignOnsChart } from "./sign-ons-chart.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { noVerdict, toLookAt, verdictOf } from "./verdict.ts";

export function Home() {
  const providers = useProviders();
  const [range, choose] = useRange();
  const statistics = useStatistics(range);
  const { data, isError } = providers;
  const verdict = data && !isError ? verdictOf(data) : noVerdict(isError);
  return (
    <Screen title="Home" heading={<span className="verdict">{verdict.says}</span>} lead={verdict.because}>
      <div className="stack">
        <FirstHour />
        <SignOns range={range} choose={choose} statistics={statistics} />
        <div className="two">
          <Providers query={providers} statistics={statistics.data} />
          <Requests />
        </div>
        <LatestFailures />
      </div>
    </Screen>
  );
}

type SignOnsProps = {
  range: Range;
  choose: (range: string) => void;
  statistics: ReturnType<typeof useStatistics>;
};

function SignOns({ range, choose, statistics }: SignOnsProps) {
  return (
    <section className="card" aria-labelledby="sign-ons">
      <div className="card-head">
        <h2 id="sign-ons">Sign-ons</h2>
        <RangeChoice range={range} onChoose={choose} />
      </div>
      <Asked query={statistics} skeleton={<SkeletonBlock />}>
        {(data) => <SignOnsChart statistics={data} />}
      </Asked>
    </section>
  );
}

const SHOWN = 6;

type ProvidersProps = {
  query: ReturnType<typeof useProviders>;
  statistics: SignOnStatistics | undefined;
};

function Providers({ query, statistics }: ProvidersProps) {
  return (
    <section className="card" aria-labelledby="providers">
      <div className="card-head">
        <h2 id="providers">Providers</h2>
        <Link href="/providers">All providers</Link>
      </div>
      <Asked
        query={query}
        empty={(list) =>
          list.length === 0 && (
            <Empty title="No provider yet" action={<Link href="/providers/add">Add a provider</Link>}>
              Shoppers sign in with an account they already have: at their company, or at a public provider.
            </Empty>
          )
        }
      >
        {(list) => (
          <ul className="list">
            {toLookAt(list, SHOWN).map((provider) => {
              const { tone, word } = stateOf(provider);
              const ms = statistics && latestMs(statistics, provider.id);
              return (
                <li key={provider.id}>
                  <Link className="item" href={pathOf(provider)}>
                    <span className="item-words">
                      <span className="item-name">{provider.name}</span>{" "}
                      <span className="quiet">{provider.realm.name}</span>
                    </span>
                    <span className="item-side">
                      <Pill tone={tone}>{word}</Pill>
                      {ms ? <span className="number">{duration(ms)}</span> : null}
                    </span>
                  </Link>
                </li>
              );
            })}
          </ul>
        )}
      </Asked>
    </section>
  );
}

function Requests() {
  const usage = useUsage();
  return (
    <section className="card" aria-labelledby="requests">
      <div className="card-head">
        <h2 id="requests">Requests, live</h2>
        <Link href="/keys">By key</Link>
      </div>
      <Asked query={usage} skeleton={<SkeletonBlock />}>
        {(data) => <UsageChart usage={data} />}
      </Asked>
    </section>
  );
}

function LatestFailures() {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "failed", 5],
    queryFn: async () => (await admin.signOns.list({ filter: "eq(outcome,failed)", limit: 5 })).data,
    refetchInterval: 15_000,
  });
  return (
    <section className="card" aria-labelledby="failed">
      <div className="card-head">
        <h2 id="failed">Latest failures</h2>
        <Link href="/failures">What fails most</Link>
      </div>
      <Asked
        query={query}
        empty={(list) =>
          list.length === 0 && (
            <Empty title="No sign-on has failed">
              When one fails, it appears here with its reason, and with what to do about it.
            </Empty>
          )
        }
      >
        {(list) => <Items items={list}>{(signOn) => <SignOnItem signOn={signOn} />}</Items>}
      </Asked>
    </section>
  );
}
