import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { FirstHour } from "../first-hour/first-hour.tsx";
import { useUsage } from "../parts/charts/usage.ts";
import { ownZone } from "../parts/charts/zone.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { pathOf, stateOf, useProviders } from "../parts/profiles.ts";
import { Screen } from "../parts/screen.tsx";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { ProviderMark } from "../providers/provider-mark.tsx";
import { useAdmin } from "../session/session.ts";
import { type Grouping, useFigures } from "./figures.ts";
import { FunnelCard } from "./funnel-card.tsx";
import { useNames } from "./names.ts";
import { periodOf } from "./period.ts";
import { SignOns } from "./sign-ons.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { useAddress } from "./use-address.ts";
import { noVerdict, toLookAt, verdictOf } from "./verdict.ts";

export function Home() {
  const providers = useProviders();
  const { data, isError } = providers;
  const verdict = data && !isError ? verdictOf(data) : noVerdict(isError);
  return (
    <Screen title="Home" heading={<span className="verdict">{verdict.says}</span>} lead={verdict.because}>
      <div className="stack">
        <FirstHour />
        <Shoppers providers={data} />
        <div className="two">
          <Providers query={providers} />
          <Requests />
        </div>
        <LatestFailures />
      </div>
    </Screen>
  );
}

/** The figures of shoppers, in the period and grouping of the address. */
function Shoppers({ providers }: { providers: ReturnType<typeof useProviders>["data"] }) {
  const [search, change] = useAddress();
  const now = { atMs: Date.now(), zone: ownZone() };
  const period = periodOf(search, now);
  const grouping: Grouping = search.get("by") === "key" ? "key" : "profile";
  const query = useFigures(period, grouping);
  const nameOf = useNames(grouping, providers);
  const by = grouping === "key" ? "key" : "provider";
  const id = search.get(by);
  const only = id ? ({ by, id, name: nameOf(id) } as const) : undefined;
  const isTable = search.get("view") === "table";
  return (
    <>
      <SignOns query={query} period={period} now={now} only={only} isTable={isTable} change={change} />
      <FunnelCard query={query} grouping={grouping} nameOf={nameOf} providers={providers} change={change} />
    </>
  );
}

const SHOWN = 6;

function Providers({ query }: { query: ReturnType<typeof useProviders> }) {
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
              return (
                <li key={provider.id}>
                  <Link className="item" href={pathOf(provider)}>
                    <span className="item-words marked">
                      <ProviderMark of={provider} />
                      <span>
                        <span className="item-name">{provider.name}</span>{" "}
                        <span className="quiet">{provider.realm.name}</span>
                      </span>
                    </span>
                    <span className="item-side">
                      <Pill tone={tone}>{word}</Pill>
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

const FAILED = "eq(outcome,failed):eq(purpose,customers):eq(test,false)";

function LatestFailures() {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "failed", 5],
    queryFn: async () => (await admin.signOns.list({ filter: FAILED, limit: 5 })).data,
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
              When a shopper's sign-on fails, it appears here with its reason and how to fix it.
            </Empty>
          )
        }
      >
        {(list) => <Items items={list}>{(signOn) => <SignOnItem signOn={signOn} />}</Items>}
      </Asked>
    </section>
  );
}
