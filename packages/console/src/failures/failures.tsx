import type { SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { quoted } from "../find/interpret.ts";
import { RangeChoice } from "../parts/charts/range-choice.tsx";
import { readStatistics, useRange } from "../parts/charts/ranges.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items, Listing } from "../parts/lists/items.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { useProviders } from "../parts/profiles.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { actorInWords } from "../sign-on/journey.ts";
import { type Group, groupFailures } from "./group.ts";

export function Failures() {
  const [search] = useSearchParams();
  const reason = search.get("reason");
  if (reason) return <OneGroup reason={reason} profileId={search.get("provider")} />;
  return <Groups />;
}

const EXAMPLES = 100;

function Groups() {
  const admin = useAdmin();
  const [range, choose] = useRange();
  const query = useQuery({
    queryKey: ["sign-ons", "failures", range],
    queryFn: async () => {
      const [statistics, failed, expired] = await Promise.all([
        readStatistics(admin, range),
        admin.signOns.list({ filter: "eq(outcome,failed)", limit: EXAMPLES }),
        // A code that was never redeemed has its own outcome, `expired`, and all of these records have the same reason.
        admin.signOns.list({ filter: "eq(outcome,expired)", limit: 1 }),
      ]);
      return groupFailures(statistics, [...failed.data, ...expired.data]);
    },
    refetchInterval: 10_000,
  });
  return (
    <Screen
      title="Failures"
      lead="Failed sign-ons by reason and provider, the most frequent first."
      actions={<RangeChoice range={range} onChoose={choose} />}
    >
      <Asked
        query={query}
        empty={(groups) =>
          groups.length === 0 && (
            <Empty
              title="No sign-on has failed"
              action={<Link href="/providers">Look at the providers</Link>}
            >
              Failures are grouped here by reason, with the most frequent one on top.
            </Empty>
          )
        }
      >
        {(groups) => (
          <div className="counted">
            <Items items={groups} keyOf={({ reason, profileId }) => `${reason} ${profileId}`}>
              {(group) => <GroupItem group={group} />}
            </Items>
          </div>
        )}
      </Asked>
    </Screen>
  );
}

function GroupItem({ group }: { group: Group }) {
  const { reason, profileId, profileName, count, example } = group;
  const providers = useProviders();
  const provider = providers.data?.find(({ id }) => id === profileId);
  const name = provider?.name ?? profileName;
  const isOfMember = provider?.realm.purpose === "members";
  const search = new URLSearchParams({ reason, ...(profileId && { provider: profileId }) });
  return (
    <Link className="item" href={`/failures?${search}`}>
      <span className="figure-large">{count.toLocaleString("en")}</span>
      <span className="item-words">
        <span className="item-name">
          <Words of={example?.means ?? reason} />
        </span>
        <br />
        <span className="quiet small">
          <code>{reason}</code> · {profileId ? (name ?? "removed provider") : "no provider"} ·{" "}
          {actorInWords(example ?? { outcome: "failed", reason }, isOfMember)}
        </span>
      </span>
    </Link>
  );
}

function OneGroup({ reason, profileId }: { reason: string; profileId: string | null }) {
  const admin = useAdmin();
  const conditions = [`eq(reason,${quoted(reason)})`];
  if (profileId) conditions.push(`eq(profile_id,${quoted(profileId)})`);
  const filter = conditions.join(":");
  const query = useListed(["sign-ons", filter], (page) => admin.signOns.list(page), { filter, limit: 25 });
  return (
    <Screen
      title={`Failures: ${reason}`}
      heading={<code>{reason}</code>}
      crumb={{ to: "/failures", label: "Failures" }}
    >
      <Listing
        query={query}
        empty={
          <Empty title="No record with this reason">
            Records are deleted after a time, so older ones may be gone.
          </Empty>
        }
        head={(found) => (
          <>
            <Explanation of={found.items[0]} />
            <ListHead found={found}>
              <ExportCsv name="sign-ons" read={(options) => admin.signOns.csv({ filter, ...options })} />
            </ListHead>
          </>
        )}
      >
        {(signOn) => <SignOnItem signOn={signOn} />}
      </Listing>
    </Screen>
  );
}

function Explanation({ of: example }: { of: SignOn | undefined }) {
  const isOfMember = useIsForMembers(example?.realm_id ?? "");
  if (!example) return null;
  return (
    <div className="hint">
      <p>
        <Words of={`${example.means ?? ""} ${example.remedy ?? ""}`} />
      </p>
      <p className="quiet small">Who can fix it: {actorInWords(example, isOfMember)}</p>
    </div>
  );
}
