import { useState } from "react";
import { RANGES } from "../parts/charts/ranges.ts";
import { dayOf } from "../parts/charts/zone.ts";
import { type Days, faultOf, lastWeek, type Now, type Period } from "./period.ts";
import type { Change } from "./use-address.ts";

type Props = { period: Period; now: Now; change: Change };

/** The last hours or days, or from one day to another. */
export function PeriodChoice({ period, now, change }: Props) {
  const onChoose = (value: string) => {
    if (value === "dates") change({ range: undefined, ...lastWeek(now) });
    else change({ range: value, from: undefined, to: undefined });
  };
  return (
    <div className="period">
      {period.id === "dates" && <Dates days={period.days} now={now} change={change} />}
      <select
        className="input input-small"
        aria-label="How far back"
        value={period.id}
        onChange={(event) => onChoose(event.target.value)}
      >
        {Object.entries(RANGES).map(([value, { label }]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
        <option value="dates">from day to day</option>
      </select>
    </div>
  );
}

function Dates({ days, now, change }: { days: Days; now: Now; change: Change }) {
  /** Days that are no period. The address and the chart keep the last ones that were. */
  const [draft, setDraft] = useState<Days>();
  const shown = draft ?? days;
  const fault = draft && faultOf(draft, now);
  const edit = (part: Partial<Days>) => {
    const next = { ...shown, ...part };
    const isFaulty = faultOf(next, now) !== undefined;
    setDraft(isFaulty ? next : undefined);
    if (!isFaulty) change(next);
  };
  const common = { type: "date", className: "input input-small", max: dayOf(now.atMs, now.zone) } as const;
  const about = fault ? { "aria-invalid": true, "aria-describedby": "period-fault" } : {};
  return (
    <>
      <label className="period-day">
        From
        <input
          {...common}
          {...about}
          value={shown.from}
          onChange={(event) => edit({ from: event.target.value })}
        />
      </label>
      <label className="period-day">
        to
        <input
          {...common}
          {...about}
          value={shown.to}
          onChange={(event) => edit({ to: event.target.value })}
        />
      </label>
      {fault && (
        <p className="period-fault" id="period-fault" role="status">
          {fault}
        </p>
      )}
    </>
  );
}
