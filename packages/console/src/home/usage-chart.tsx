import type { StoreUsage } from "@latchkey/sdk/admin";
import { countTicks, tickCount } from "../parts/charts/scale.ts";
import { servedLately, totalsOf } from "../parts/charts/usage.ts";

/** Requests per second against the store's limit. The last second on the right is incomplete. */
export function UsageChart({ usage }: { usage: StoreUsage }) {
  const totals = totalsOf(usage);
  const limit = usage.rate_limit;
  const counts = countTicks(Math.max(limit, ...totals.asked));
  const top = counts.at(-1) ?? limit;
  const width = totals.asked.length || 1;
  const refused = totals.refused.reduce((a, b) => a + b, 0);
  const now = servedLately(totals);
  const span = width === 1 ? "last second" : `last ${width} seconds`;
  const words = `${now.toFixed(0)} requests a second now, limit ${limit}, ${refused} refused in the ${span}`;
  return (
    <figure className="stack">
      <p className="row">
        <span className="figure-large">{now.toFixed(now < 10 ? 1 : 0)}</span>
        <span className="quiet">a second, of {limit.toLocaleString("en")}</span>
      </p>
      <div className="plot">
        <div className="plot-counts" aria-hidden="true">
          {counts.map((count) => (
            <span key={count}>{tickCount(count, top)}</span>
          ))}
        </div>
        <div className="plot-area plot-area-low">
          <svg
            className="plot-picture"
            viewBox={`0 0 ${width} 100`}
            preserveAspectRatio="none"
            role="img"
            aria-label={words}
          >
            {counts.map((count) => (
              <Line key={count} className="chart-axis" width={width} at={count / top} />
            ))}
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
            <Line className="chart-limit" width={width} at={limit / top} />
          </svg>
        </div>
      </div>
      <figcaption className="chart-foot">
        <span>{span}; the dashed line is the limit</span>
        <span>{refused === 0 ? "nothing was refused" : `${refused.toLocaleString("en")} refused`}</span>
      </figcaption>
    </figure>
  );
}

/** `at`: the share of the height. */
function Line({ at, width, className }: { at: number; width: number; className: string }) {
  const y = 100 - at * 100;
  return <line className={className} x1={0} x2={width} y1={y} y2={y} />;
}
