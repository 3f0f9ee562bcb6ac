import { type CSSProperties, useState } from "react";
import { BarLinks } from "./bar-links.tsx";
import { type ChartBar, type ChartProps, sumOf } from "./bars.ts";
import { countTicks, tickCount } from "./scale.ts";

/**
 * Stacked bars over time. Arrow keys move between the bars and their parts, which are links if they have an address.
 * A bar keeps its element, and so the focus, as long as its `from` is the same.
 */
export function BarChart(props: ChartProps) {
  const { summary, parts, bars, ticks, beforeName, limit, isLow } = props;
  const [shown, show] = useState<number>();
  const top = Math.max(1, limit ?? 0, ...bars.map((bar) => Math.max(sumOf(bar.values), bar.before ?? 0)));
  const counts = countTicks(top);
  const height = counts.at(-1) ?? 1;
  const box = shown === undefined ? undefined : bars[shown];
  return (
    <div className="plot">
      <div className="plot-counts" aria-hidden="true">
        {counts.map((count) => (
          <span key={count}>{tickCount(count, height)}</span>
        ))}
      </div>
      <div className={isLow ? "plot-area plot-area-low" : "plot-area"}>
        <Picture summary={summary} parts={parts} bars={bars} limit={limit} counts={counts} />
        <BarLinks {...props} height={height} shown={shown} show={show} />
        {box && (
          <ValueBox bar={box} parts={parts} beforeName={beforeName} at={((shown ?? 0) + 0.5) / bars.length} />
        )}
      </div>
      <Times bars={bars} ticks={ticks} />
    </div>
  );
}

function Times({ bars, ticks }: Pick<ChartProps, "bars" | "ticks">) {
  const [from, to] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1];
  return (
    <div className="plot-times" aria-hidden="true">
      {ticks.map((tick) => {
        const at = (tick.at - from) / (to - from);
        // A label at the end would be cut off.
        if (at > 0.97) return null;
        return (
          <span key={tick.at} data-edge={at < 0.03} style={{ left: `${at * 100}%` }}>
            {tick.label}
          </span>
        );
      })}
    </div>
  );
}

type PictureProps = Pick<ChartProps, "summary" | "parts" | "bars" | "limit"> & { counts: readonly number[] };

function Picture({ summary, parts, bars, limit, counts }: PictureProps) {
  const height = counts.at(-1) ?? 1;
  const width = bars.length || 1;
  const yOf = (count: number) => 100 - (count / height) * 100;
  const line = bars
    .map(({ before }, at) =>
      before === undefined ? "" : `${at === 0 ? "M" : "L"}${at} ${yOf(before)}H${at + 1}`,
    )
    .join("");
  return (
    <svg
      className="plot-picture"
      viewBox={`0 0 ${width} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summary}
    >
      {counts.map((count) => (
        <line key={count} className="chart-axis" x1={0} x2={width} y1={yOf(count)} y2={yOf(count)} />
      ))}
      {bars.map((bar, at) => (
        <g key={bar.from} className={bar.isUnderWay ? "plot-under-way" : undefined}>
          {bar.values.map((value, part) => {
            const above = sumOf(bar.values.slice(0, part + 1));
            return (
              <rect
                key={parts[part]?.key}
                className={`chart-${parts[part]?.key}`}
                x={at + 0.14}
                width={0.72}
                y={yOf(above)}
                height={(value / height) * 100}
              />
            );
          })}
        </g>
      ))}
      {limit !== undefined && (
        <line className="chart-limit" x1={0} x2={width} y1={yOf(limit)} y2={yOf(limit)} />
      )}
      {bars.some(({ before }) => before) && <path className="plot-before" d={line.replace(/^L/, "M")} />}
    </svg>
  );
}

type BoxProps = Pick<ChartProps, "parts" | "beforeName"> & { bar: ChartBar; at: number };

/** Beside its bar; in a narrow window above it. Hidden from screen readers: the focused link says the same. */
function ValueBox({ bar, parts, beforeName, at }: BoxProps) {
  return (
    <div
      className="plot-box"
      aria-hidden="true"
      data-side={at > 0.5 ? "left" : "right"}
      style={{ left: `${at * 100}%`, "--at": at } as CSSProperties}
    >
      <strong>
        {bar.when}
        {bar.isUnderWay && ", so far"}
      </strong>
      <dl>
        {parts.map(({ key, label }, part) => (
          <div key={key}>
            <dt>
              <span className={`key-dot dot-${key}`} />
              {label}
            </dt>
            <dd>{(bar.values[part] ?? 0).toLocaleString("en")}</dd>
          </div>
        ))}
        {bar.before !== undefined && (
          <div>
            <dt>
              <span className="key-dot dot-before" />
              in {beforeName}
            </dt>
            <dd>{bar.before.toLocaleString("en")}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
