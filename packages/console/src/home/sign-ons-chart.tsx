import type { SignOnStatistics } from "@latchkey/sdk/admin";
import { exactly } from "../parts/text/instants.ts";
import { seriesOf, totalOf } from "./series.ts";

/** Sign-ons by outcome over time, with failures at the top of each bar. */
export function SignOnsChart({ statistics }: { statistics: SignOnStatistics }) {
  const series = seriesOf(statistics);
  const { signedIn, unfinished, failed } = totalOf(series);
  const top = Math.max(1, ...series.map((bucket) => bucket.signedIn + bucket.unfinished + bucket.failed));
  const width = series.length || 1;
  const first = series[0];
  return (
    <figure>
      <svg
        className="chart"
        viewBox={`0 0 ${width} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${signedIn} signed in, ${unfinished} not finished, ${failed} failed`}
      >
        {series.map((bucket, at) => {
          const good = (bucket.signedIn / top) * 100;
          const middling = (bucket.unfinished / top) * 100;
          const bad = (bucket.failed / top) * 100;
          const x = at + 0.1;
          return (
            <g key={bucket.from}>
              <rect className="chart-good" x={x} width={0.8} y={100 - good} height={good} />
              <rect
                className="chart-middling"
                x={x}
                width={0.8}
                y={100 - good - middling}
                height={middling}
              />
              <rect className="chart-bad" x={x} width={0.8} y={100 - good - middling - bad} height={bad} />
            </g>
          );
        })}
        <line className="chart-axis" x1={0} x2={width} y1={100} y2={100} />
      </svg>
      <figcaption className="chart-foot">
        <span>{first ? `from ${exactly(first.from)}` : ""}</span>
        <span>now</span>
      </figcaption>
      <ul className="legend">
        <li>
          <span className="key-dot dot-good" />
          {signedIn.toLocaleString("en")} signed in
        </li>
        <li>
          <span className="key-dot dot-middling" />
          {unfinished.toLocaleString("en")} not finished
        </li>
        <li>
          <span className="key-dot dot-bad" />
          {failed.toLocaleString("en")} failed
        </li>
      </ul>
    </figure>
  );
}
