import { useRef, useState } from "react";
import { Link } from "wouter";
import { countTicks, type TimeTick, tickCount } from "./scale.ts";
import { useBarKeys } from "./use-bar-keys.ts";

/** A part of every bar, such as the sign-ons that failed. The first part is at the bottom. */
export type ChartPart = { key: "good" | "middling" | "bad"; label: string };

export type ChartBar = {
  from: number;
  to: number;
  /** The bar's time in words. */
  when: string;
  values: readonly number[];
  /** The total one period earlier; undefined where no figures are kept. */
  before: number | undefined;
  /** The time is not over. */
  isUnderWay: boolean;
  /** Opens the bar's entries. */
  href: string;
  /** Opens the entries of each part. */
  partHrefs: readonly string[];
};

type Props = {
  /** Names the list of bars. */
  name: string;
  /** The whole chart in a sentence. */
  summary: string;
  parts: readonly ChartPart[];
  bars: readonly ChartBar[];
  ticks: readonly TimeTick[];
  /** Names the earlier period, such as "the 24 hours before". */
  beforeName: string;
  /** Says what a link opens, if that is more than the bar has. */
  opens?: string | undefined;
};

const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Stacked bars over time. Each bar is a link, and so is each part of a bar; arrow keys move between them. */
export function BarChart({ name, summary, parts, bars, ticks, beforeName, opens }: Props) {
  const [shown, show] = useState<number>();
  const list = useRef<HTMLUListElement>(null);
  const touched = useRef<string>(undefined);
  const { current, onKeyDown, onFocus } = useBarKeys(list, bars, show);
  const top = Math.max(1, ...bars.map((bar) => Math.max(sumOf(bar.values), bar.before ?? 0)));
  const counts = countTicks(top);
  const height = counts.at(-1) ?? 1;
  const [from, to] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1];
  const note = opens ? `. ${opens}` : "";
  const box = shown === undefined ? undefined : bars[shown];
  /** A finger cannot point: its first touch shows the values, and the second one opens the list. */
  const onClick = (event: React.MouseEvent, at: number, target: string) => {
    const isTouch = (event.nativeEvent as PointerEvent).pointerType === "touch";
    if (!isTouch || touched.current === target) return;
    event.preventDefault();
    touched.current = target;
    show(at);
  };
  return (
    <div className="plot">
      <div className="plot-counts" aria-hidden="true">
        {counts.map((count) => (
          <span key={count}>{tickCount(count)}</span>
        ))}
      </div>
      <div className="plot-area">
        <Picture summary={summary} parts={parts} bars={bars} counts={counts} />
        <ul
          ref={list}
          className="plot-bars"
          aria-label={name}
          onKeyDown={onKeyDown}
          onPointerLeave={() => show(undefined)}
          onBlur={() => show(undefined)}
        >
          {bars.map((bar, at) => {
            const words = `${wordsOf(bar, parts, beforeName)}${note}`;
            const place = { left: `${(at / bars.length) * 100}%`, width: `${100 / bars.length}%` };
            const tab = (part: number) => (current.bar === at && current.part === part ? 0 : -1);
            const common = (part: number) => ({
              "data-bar": at,
              "data-part": part,
              tabIndex: tab(part),
              onFocus: () => onFocus(at, part),
              onClick: (event: React.MouseEvent) => onClick(event, at, `${bar.from} ${part}`),
            });
            return (
              <li
                key={bar.from}
                className="plot-bar"
                data-shown={shown === at}
                style={place}
                onPointerEnter={() => show(at)}
              >
                <Link href={bar.href} className="plot-whole" aria-label={words} {...common(0)} />
                {bar.values.map((value, part) => {
                  if (value === 0) return null;
                  const label = parts[part]?.label ?? "";
                  const below = sumOf(bar.values.slice(0, part));
                  const size = { bottom: `${(below / height) * 100}%`, height: `${(value / height) * 100}%` };
                  return (
                    <Link
                      key={label}
                      href={bar.partHrefs[part] ?? bar.href}
                      className="plot-part"
                      style={size}
                      aria-label={`${bar.when}: ${value.toLocaleString("en")} ${label}${note}`}
                      {...common(part + 1)}
                    />
                  );
                })}
              </li>
            );
          })}
        </ul>
        {box && (
          <ValueBox
            bar={box}
            parts={parts}
            beforeName={beforeName}
            opens={opens}
            at={((shown ?? 0) + 0.5) / bars.length}
          />
        )}
      </div>
      <div className="plot-times" aria-hidden="true">
        {ticks.map((tick) => {
          const at = (tick.at - from) / (to - from);
          // A label at the edge would be cut off.
          if (at < 0.03 || at > 0.97) return null;
          return (
            <span key={tick.at} style={{ left: `${at * 100}%` }}>
              {tick.label}
            </span>
          );
        })}
      </div>
    </div>
  );
}

type PictureProps = Pick<Props, "summary" | "parts" | "bars"> & { counts: readonly number[] };

function Picture({ summary, parts, bars, counts }: PictureProps) {
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
      {line && <path className="plot-before" d={line.replace(/^L/, "M")} />}
    </svg>
  );
}

type BoxProps = Pick<Props, "parts" | "beforeName" | "opens"> & { bar: ChartBar; at: number };

/** Hidden from screen readers: the focused link says the same. */
function ValueBox({ bar, parts, beforeName, opens, at }: BoxProps) {
  return (
    <div
      className="plot-box"
      aria-hidden="true"
      style={{ left: `${at * 100}%`, transform: `translateX(-${at * 100}%)` }}
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
      {opens && <span className="quiet">{opens}</span>}
    </div>
  );
}

function wordsOf(bar: ChartBar, parts: readonly ChartPart[], beforeName: string): string {
  const counts = parts.map(({ label }, at) => `${(bar.values[at] ?? 0).toLocaleString("en")} ${label}`);
  const before = bar.before === undefined ? "" : `. In ${beforeName}: ${bar.before.toLocaleString("en")}`;
  return `${bar.when}${bar.isUnderWay ? ", so far" : ""}: ${counts.join(", ")}${before}`;
}
