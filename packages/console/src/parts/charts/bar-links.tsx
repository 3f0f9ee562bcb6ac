import { type ComponentProps, type MouseEvent, useRef } from "react";
import { Link } from "wouter";
import { type ChartBar, type ChartProps, sumOf, wordsOf } from "./bars.ts";
import { useBarKeys } from "./use-bar-keys.ts";

type Props = Omit<ChartProps, "summary" | "ticks" | "limit" | "isLow"> & {
  /** The count at the top of the chart. */
  height: number;
  /** The bar whose values are shown. */
  shown: number | undefined;
  show(bar: number | undefined): void;
};

/** The links over the picture, or stops without an address: each bar, and above it each of its parts. */
export function BarLinks({ name, height, shown, show, ...chart }: Props) {
  const { bars } = chart;
  const list = useRef<HTMLUListElement>(null);
  const touched = useRef<string>(undefined);
  const { current, onKeyDown, onFocus } = useBarKeys(list, bars.map(stopsOf), show);
  /** A finger cannot point: its first touch shows the values, and the second one opens the list. */
  const onClick = (event: MouseEvent, bar: number, part: number) => {
    const target = `${bar} ${part}`;
    const isTouch = (event.nativeEvent as PointerEvent).pointerType === "touch";
    if (!isTouch || (touched.current === target && bars[bar]?.href)) return;
    event.preventDefault();
    touched.current = target;
    show(bar);
  };
  const linkOf = (bar: number, part: number) => ({
    "data-bar": bar,
    "data-part": part,
    tabIndex: current.bar === bar && current.part === part ? 0 : -1,
    onFocus: () => onFocus(bar, part),
    onClick: (event: MouseEvent) => onClick(event, bar, part),
  });
  return (
    <ul
      ref={list}
      className="plot-bars"
      aria-label={name}
      onKeyDown={onKeyDown}
      onPointerLeave={() => show(undefined)}
      onBlur={() => show(undefined)}
    >
      {bars.map((bar, at) => (
        <li
          key={bar.from}
          className="plot-bar"
          data-shown={shown === at}
          style={{ left: `${(at / bars.length) * 100}%`, width: `${100 / bars.length}%` }}
          onPointerEnter={() => show(at)}
        >
          <BarStop
            href={bar.href}
            className="plot-whole"
            aria-label={wordsOf(bar, chart)}
            {...linkOf(at, 0)}
          />
          {partsOf(bar, chart, height).map(({ part, ...link }) => (
            <BarStop key={part} className="plot-part" {...link} {...linkOf(at, part + 1)} />
          ))}
        </li>
      ))}
    </ul>
  );
}

type BarStopProps = Omit<ComponentProps<"a">, "href"> & { href: string | undefined };

/** Takes the focus and says its values; opens its entries if something lists them. */
function BarStop({ href, ...props }: BarStopProps) {
  if (href !== undefined) return <Link href={href} {...props} />;
  return <span role="img" {...props} />;
}

/** A part of which nothing lists the entries is no stop: it would take the focus along when its count drops to 0. */
const stopsOf = ({ values, partHrefs }: ChartBar) => ({ values: partHrefs ? values : [] });

/** The parts that have entries. */
function partsOf(bar: ChartBar, { parts }: Pick<ChartProps, "parts">, height: number) {
  return stopsOf(bar).values.flatMap((value, part) => {
    if (value === 0) return [];
    const below = sumOf(bar.values.slice(0, part));
    const words = `${bar.when}: ${value.toLocaleString("en")} ${parts[part]?.label ?? ""}`;
    return {
      part,
      href: bar.partHrefs?.[part] ?? bar.href,
      "aria-label": words,
      style: { bottom: `${(below / height) * 100}%`, height: `${(value / height) * 100}%` },
    };
  });
}
