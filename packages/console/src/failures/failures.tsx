import type { Admin, SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { quoted } from "../find/interpret.ts";
import { Asked } from "../parts/asked.tsx";
import { Empty } from "../parts/empty.tsx";
import { Instant } from "../parts/instant.tsx";
import { countOf, useListed } from "../parts/listed.ts";
import { More } from "../parts/more.tsx";
import { SignOnItem } from "../parts/outcome.tsx";
import { Screen } from "../parts/screen.tsx";
import { Words } from "../parts/words.tsx";
import { useAdmin } from "../session/session.ts";
import { ACTORS, whoMustAct } from "../sign-on/journey.ts";
import { type Group, groupFailures } from "./group.ts";

const LOOKED_AT = 300;

async function readFailures(admin: Admin): Promise<SignOn[]> {
  const records: SignOn[] = [];
  for await (const record of admin.signOns.list({ filter: "eq(outcome,failed)", limit: 100 }).all()) {
    records.push(record);
    if (records.length === LOOKED_AT) break;
  }
  return records;
}

export function Failures() {
  const [search] = useSearchParams();
  const reason = search.get("reason");
  if (reason) return <OneGroup reason={reason} profileId={search.get("provider")} />;
  return <Groups />;
}

function Groups() {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "failures"],
    queryFn: () => readFailures(admin),
    refetchInterval: 30_000,
  });
  return (
    <Screen
      title="Failures"
      lead={`What fails most, by reason and provider, among the last ${LOOKED_AT} failures.`}
    >
      <Asked
        query={query}
        empty={(records) =>
          records.length === 0 && (
            <Empty
              title="No sign-on has failed"
              action={<Link href="/providers">Look at the providers</Link>}
            >
              Failures are grouped here by their reason, so that the one to mend first is on top.
            </Empty>
          )
        }
      >
        {(records) => (
          <ul className="list">
            {groupFailures(records).map((group) => (
              <li key={`${group.reason} ${group.profileId}`}>
                <GroupItem group={group} />
              </li>
            ))}
          </ul>
        )}
      </Asked>
    </Screen>
  );
}

function GroupItem({ group }: { group: Group }) {
  const { reason, profileId, profileName, count, example } = group;
  const search = new URLSearchParams({ reason, ...(profileId && { provider: profileId }) });
  return (
    <Link className="item" href={`/failures?${search}`}>
      <span className="figure-large">{count}</span>
      <span className="item-words">
        <span className="item-name">
          <Words of={example.means ?? reason} />
        </span>
        <br />
        <span className="quiet small">
          <code>{reason}</code> · {profileName ?? "no provider"} · {ACTORS[whoMustAct(example)]}
        </span>
      </span>
      <span className="item-side">
        last <Instant at={example.meta.timestamps.started_at} />
      </span>
    </Link>
  );
}

function OneGroup({ reason, profileId }: { reason: string; profileId: string | null }) {
  const admin = useAdmin();
  const conditions = ["eq(outcome,failed)", `eq(reason,${quoted(reason)})`];
  if (profileId) conditions.push(`eq(profile_id,${quoted(profileId)})`);
  const filter = conditions.join(":");
  const query = useListed(["sign-ons", filter], (page) => admin.signOns.list(page), { filter, limit: 25 });
  const example = query.data?.items[0];
  return (
    <Screen
      title={`Failures: ${reason}`}
      heading={<code>{reason}</code>}
      crumb={{ to: "/failures", label: "Failures" }}
    >
      <Asked
        query={query}
        empty={({ items }) =>
          items.length === 0 && <Empty title="None any more">No kept record has this reason.</Empty>
        }
      >
        {(found) => (
          <div className="stack">
            {example && (
              <div className="hint">
                <p>
                  <Words of={`${example.means ?? ""} ${example.remedy ?? ""}`} />
                </p>
                <p className="quiet small">{ACTORS[whoMustAct(example)]} must act.</p>
              </div>
            )}
            <p className="quiet">{countOf(found)} in all</p>
            <ul className="list">
              {found.items.map((signOn) => (
                <li key={signOn.id}>
                  <SignOnItem signOn={signOn} />
                </li>
              ))}
            </ul>
            <More
              show={query.hasNextPage}
              isBusy={query.isFetchingNextPage}
              onMore={() => void query.fetchNextPage()}
            />
          </div>
        )}
      </Asked>
    </Screen>
  );
}
