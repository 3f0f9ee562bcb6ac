import { useQuery } from "@tanstack/react-query";
import { readStatistics } from "../parts/charts/ranges.ts";
import { useAddress } from "../parts/lists/address.ts";
import { FilterChoice, FilterSpan, Filters } from "../parts/lists/filters.tsx";
import { useProviders } from "../parts/profiles.ts";
import { useAdmin } from "../session/session.ts";
import { isNarrowed, outcomesOf, PEOPLE, type People, type Wanted } from "./wanted.ts";

const ALL_PEOPLE = Object.entries(PEOPLE).map(([value, { label }]) => ({ value, label }));

/** Another choice of people ends the choices that these people may not have. */
const OF_PEOPLE = { outcome: undefined, provider: undefined, key: undefined, reason: undefined };

export function FilterSignOns({ wanted }: { wanted: Wanted }) {
  const [, change] = useAddress();
  const { people, outcome, provider, key, reason } = wanted;
  const providers = useProvidersOf(people);
  const reasons = useReasons();
  const keyName = useKeyName(key);
  return (
    <Filters>
      <FilterChoice
        label="People"
        options={ALL_PEOPLE}
        value={people}
        onChoose={(next) => change({ ...OF_PEOPLE, people: next === "shoppers" ? undefined : next })}
      />
      <FilterChoice
        label="Outcome"
        options={outcomesOf(people)}
        value={outcome}
        onChoose={(next) => change({ outcome: next })}
      />
      <FilterChoice
        label="Provider"
        options={[{ value: "", label: "Every provider" }, ...providers]}
        value={provider}
        onChoose={(next) => change({ provider: next })}
      />
      {key && (
        <FilterChoice
          label="Key"
          options={[
            { value: "", label: "Every key" },
            { value: key, label: keyName },
          ]}
          value={key}
          onChoose={(next) => change({ key: next })}
        />
      )}
      <FilterChoice
        label="Reason"
        options={[{ value: "", label: "Every reason" }, ...reasons]}
        value={reason}
        onChoose={(next) => change({ reason: next })}
      />
      <FilterSpan value={wanted} onChoose={change} />
      {isNarrowed(wanted) && (
        <button
          type="button"
          className="button-word"
          onClick={() => change({ ...OF_PEOPLE, from: undefined, to: undefined })}
        >
          Clear filters
        </button>
      )}
    </Filters>
  );
}

function useProvidersOf(people: People): { value: string; label: string }[] {
  const { data = [] } = useProviders();
  const purpose = people === "members" ? "members" : "customers";
  return data
    .filter(({ realm }) => people === "tests" || realm.purpose === purpose)
    .map(({ id, name }) => ({ value: id, label: name }));
}

/** A store may have thousands of keys, so only the key of the address is read. A deleted key has its id. */
function useKeyName(id: string): string {
  const admin = useAdmin();
  const { data } = useQuery({
    queryKey: ["keys", "name", id],
    queryFn: async () => (await admin.applicationKeys.get(id)).data.name,
    enabled: id !== "",
    retry: false,
  });
  return data ?? id;
}

/** The reasons of the last 30 days, the most frequent first. */
function useReasons(): { value: string; label: string }[] {
  const admin = useAdmin();
  const { data } = useQuery({
    queryKey: ["sign-ons", "reasons"],
    queryFn: () => readStatistics(admin, "month"),
    staleTime: 60_000,
  });
  const counts = new Map<string, number>();
  for (const { reasons } of data?.data ?? [])
    for (const [reason, count] of Object.entries(reasons))
      counts.set(reason, (counts.get(reason) ?? 0) + count);
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason]) => ({ value: reason, label: reason }));
}
