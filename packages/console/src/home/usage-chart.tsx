import type { StoreUsage } from "@latchkey/sdk/admin";
import { BarChart } from "../parts/charts/bar-chart.tsx";
import { ChartTable } from "../parts/charts/chart-table.tsx";
import { servedLately, totalsOf } from "../parts/charts/usage.ts";
import { secondsOf, secondTicks } from "./seconds.ts";
import { useAddress } from "./use-address.ts";

const PARTS = [
  { key: "good", label: "served" },
  { key: "bad", label: "refused" },
] as const;

/** Requests per second against the store's limit. */
export function UsageChart({ usage }: { usage: StoreUsage }) {
  const [search, change] = useAddress();
  const isTable = search.get("requests") === "table";
  const totals = totalsOf(usage);
  const bars = secondsOf(totals);
  const limit = usage.rate_limit;
  const refused = totals.refused.reduce((a, b) => a + b, 0);
  const now = servedLately(totals);
  const span = bars.length === 1 ? "last second" : `last ${bars.length} seconds`;
  const words = `${now.toFixed(0)} requests a second now, limit ${limit}, ${refused} refused in the ${span}`;
  return (
    <figure className="stack">
      <p className="row">
        <span className="figure-large">{now.toFixed(now < 10 ? 1 : 0)}</span>
        <span className="quiet">a second, of {limit.toLocaleString("en")}</span>
      </p>
      {isTable ? (
        <ChartTable caption={`Requests in the ${span}`} parts={PARTS} bars={bars.toReversed()} />
      ) : (
        <BarChart
          name="Requests by second"
          summary={words}
          parts={PARTS}
          bars={bars}
          ticks={secondTicks(bars.length)}
          limit={limit}
          isLow
        />
      )}
      <div className="chart-foot">
        <figcaption>
          {isTable ? `The limit is ${limit.toLocaleString("en")} a second` : "The dashed line is the limit"};{" "}
          {refused === 0 ? "nothing was refused" : `${refused.toLocaleString("en")} refused`}.
        </figcaption>
        <button
          type="button"
          className="button-word"
          onClick={() => change({ requests: isTable ? undefined : "table" })}
        >
          {isTable ? "Show as chart" : "Show as table"}
        </button>
      </div>
    </figure>
  );
}
