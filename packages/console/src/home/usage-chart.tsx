import type { StoreUsage } from "@latchkey/sdk/admin";
import { servedLately, totalsOf } from "../parts/charts/usage.ts";

/** Requests per second against the store's limit. The last second on the right is incomplete. */
export function UsageChart({ usage }: { usage: StoreUsage }) {
  const totals = totalsOf(usage);
  const limit = usage.rate_limit;
  const top = Math.max(limit, ...totals.asked) * 1.05;
  const width = totals.asked.length || 1;
  const refused = totals.refused.reduce((a, b) => a + b, 0);
  const now = servedLately(totals);
  const span = width === 1 ? "last second" : `last ${width} seconds`;
  const words = `${now.toFixed(0)} requests a second now, limit ${limit}, ${refused} refused in the ${span}`;
  return (
    <figure>
      <p className="row">
        <span className="figure-large">{now.toFixed(now < 10 ? 1 : 0)}</span>
        <span className="quiet">a second, of {limit.toLocaleString("en")}</span>
      </p>
      <svg
        className="chart"
        viewBox={`0 0 ${width} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        {totals.asked.map((asked, at) => {
          const no = totals.refused[at] ?? 0;
          const yes = ((asked - no) / top) * 100;
          const bad = (no / top) * 100;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the position on the axis
            <g key={at}>
              <rect className="chart-good" x={at + 0.1} width={0.8} y={100 - yes} height={yes} />
              {bad > 0 && (
                <rect className="chart-bad" x={at + 0.1} width={0.8} y={100 - yes - bad} height={bad} />
              )}
            </g>
          );
        })}
        <line className="chart-axis" x1={0} x2={width} y1={100} y2={100} />
        <line
          className="chart-limit"
          x1={0}
          x2={width}
          y1={100 - (limit / top) * 100}
          y2={100 - (limit / top) * 100}
        />
      </svg>
      <figcaption className="chart-foot">
        <span>{span}</span>
        <span>{refused === 0 ? "nothing was refused" : `${refused.toLocaleString("en")} refused`}</span>
      </figcaption>
    </figure>
  );
}
