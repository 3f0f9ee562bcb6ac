import type { ApplicationKey, ApplicationKeyDryRun, ApplicationKeyListMeta } from "@latchkey/sdk/admin";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { useSearchParams } from "wouter";
import { Confirm } from "../parts/forms/confirm.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { DryRun } from "./dry-run.tsx";
import { type KeysRead, readKeys, withKey } from "./read-keys.ts";
import { refusalsOf } from "./refusals.ts";

export function Planner() {
  const admin = useAdmin();
  const can = useCan();
  const query = useQuery({
    queryKey: ["keys", "planner"],
    queryFn: ({ signal }) => readKeys(admin, signal),
  });
  const [search, setSearch] = useSearchParams();
  const select = useId();
  return (
    <Screen
      title="Planner"
      lead="What would a reservation cost the other keys? The planner replays the requests of the last hour with it."
      actions={!can("administer") && <NotOffered act="administer" />}
    >
      <Asked
        query={query}
        empty={({ data }) =>
          data.length === 0 && (
            <Empty title="No key yet">Reservations belong to keys. Create a key first.</Empty>
          )
        }
      >
        {({ data, meta }) => {
          const key = data.find(({ id }) => id === search.get("key")) ?? (data[0] as ApplicationKey);
          return (
            <div className="stack-wide">
              <div className="field">
                <label htmlFor={select}>Key</label>
                <select
                  id={select}
                  className="input"
                  value={key.id}
                  onChange={(event) => setSearch({ key: event.target.value })}
                >
                  {data.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </select>
              </div>
              <Plan key={key.id} value={key} meta={meta} />
            </div>
          );
        }}
      </Asked>
    </Screen>
  );
}

const SETTLED_MS = 300;

function Plan({ value: key, meta }: { value: ApplicationKey; meta: ApplicationKeyListMeta }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const others = meta.total_reserved_rate_limit - key.reserved_rate_limit;
  const most = Math.max(0, meta.rate_limit - others);
  const { value: wanted, ...draft } = useDraft(key.reserved_rate_limit);
  const settled = useSettled(wanted, SETTLED_MS);
  const foresight = useQuery<ApplicationKeyDryRun>({
    queryKey: ["dry-run", key.id, settled],
    queryFn: async () =>
      (await admin.applicationKeys.dryRun(key.id, { name: key.name, reserved_rate_limit: settled })).data,
    placeholderData: keepPreviousData,
  });
  const slider = useId();
  // Both buttons are disabled or removed after a press, so the focus returns to the slider.
  const focusSlider = () => document.getElementById(slider)?.focus();
  const [isConfirming, setConfirming] = useState(false);
  const apply = async () => {
    const { data } = await admin.applicationKeys.update(key.id, {
      name: key.name,
      reserved_rate_limit: wanted,
    });
    // Shown from the answer: another person may change the reservation before the next fetch.
    queries.setQueryData<KeysRead>(["keys", "planner"], (read) => read && withKey(read, data));
    // The number comes first: after a right-to-left name it would be displayed as part of the name.
    say(`${wanted} a second are reserved for ${key.name}.`);
    await queries.invalidateQueries({ queryKey: ["keys"] });
    await queries.invalidateQueries({ queryKey: ["usage"] });
    draft.settle();
    focusSlider();
  };
  const { isBusy, error, run } = useAct(apply);
  return (
    <>
      <section className="card stack" aria-label="Reservation">
        <ReservationSlider id={slider} value={key} most={most} wanted={wanted} onType={draft.type} />
        {error !== undefined && <Problem error={error} />}
        {can("administer") && (
          <PlanButtons
            isBusy={isBusy}
            isChanged={draft.isChanged}
            reserved={key.reserved_rate_limit}
            onApply={() => (wanted < key.reserved_rate_limit ? setConfirming(true) : run())}
            onBack={() => {
              draft.forget();
              focusSlider();
            }}
          />
        )}
        {isConfirming && (
          <Lower
            value={key}
            wanted={wanted}
            opener={document.getElementById(slider)}
            onClose={() => setConfirming(false)}
            onConfirm={apply}
          />
        )}
      </section>
      <section className="stack-tight" aria-labelledby="foresight">
        <h2 id="foresight">Effect on the last hour</h2>
        <Asked query={foresight} skeleton={<SkeletonRows rows={3} />}>
          {(data) => <DryRun foresight={data} />}
        </Asked>
      </section>
    </>
  );
}

type SliderProps = {
  id: string;
  value: ApplicationKey;
  most: number;
  wanted: number;
  onType: (wanted: number) => void;
};

const ReservationSlider = ({ id, value: key, most, wanted, onType }: SliderProps) => (
  <>
    <label htmlFor={id} className="row apart">
      <strong>Reserved for {key.name}</strong>
      <span>
        <span className="figure-large">{wanted}</span>{" "}
        <span className="quiet">
          a second; now {key.reserved_rate_limit}, at most {most}
        </span>
      </span>
    </label>
    <input
      id={id}
      className="range"
      type="range"
      min={0}
      max={most}
      value={wanted}
      onChange={(event) => onType(Number(event.target.value))}
      aria-valuetext={`${wanted} a second`}
    />
  </>
);

type LowerProps = {
  value: ApplicationKey;
  wanted: number;
  opener: HTMLElement | null;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
};

/** `seen`: the key as it was when the dialog opened. The screen follows what other people save. */
function Lower({ value, wanted, ...rest }: LowerProps) {
  const admin = useAdmin();
  const [seen] = useState(value);
  return (
    <Confirm
      title={
        wanted === 0
          ? `Remove the reservation of ${seen.name}?`
          : `Lower the reservation of ${seen.name} to ${wanted} a second?`
      }
      says={`${seen.reserved_rate_limit} a second are reserved now. Within a second of the change, requests above the new reservation use the rate that all keys share, and are refused when that is used up.`}
      figures={[refusalsOf(admin, seen, wanted)]}
      act={wanted === 0 ? "Remove reservation" : "Lower reservation"}
      {...rest}
    />
  );
}

type PlanButtonsProps = {
  isBusy: boolean;
  isChanged: boolean;
  reserved: number;
  onApply: () => void;
  onBack: () => void;
};

const PlanButtons = ({ isBusy, isChanged, reserved, onApply, onBack }: PlanButtonsProps) => (
  <div className="form-actions">
    <button type="button" className="button" disabled={isBusy || !isChanged} onClick={onApply}>
      Apply
    </button>
    {isChanged && (
      <button type="button" className="button button-plain" onClick={onBack}>
        Back to {reserved}
      </button>
    )}
  </div>
);

/** The value after it has not changed for `ms`, because dragging a slider passes many values. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
