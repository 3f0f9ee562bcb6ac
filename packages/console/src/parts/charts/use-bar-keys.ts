import { type KeyboardEvent, type RefObject, useState } from "react";

/** Part 0 is the whole bar, part 1 its first part. */
type BarPlace = { bar: number; part: number };
type Valued = { values: readonly number[] };

/** The place that a key leads to. Undefined: the key does not move. A part without entries is skipped. */
export function placeAfter(
  key: string,
  { bar, part }: BarPlace,
  bars: readonly Valued[],
): BarPlace | undefined {
  const last = bars.length - 1;
  const to = { ArrowLeft: bar - 1, ArrowRight: bar + 1, Home: 0, End: last }[key];
  if (to !== undefined) return { bar: Math.min(last, Math.max(0, to)), part: 0 };
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const parts = [0, ...(bars[bar]?.values ?? []).flatMap((value, at) => (value === 0 ? [] : [at + 1]))];
  const at = parts.indexOf(part) + (key === "ArrowUp" ? 1 : -1);
  return { bar, part: parts[Math.min(parts.length - 1, Math.max(0, at))] ?? 0 };
}

/** Arrow keys move between the links of a chart, which is one stop of the Tab key. Escape hides the values. */
export function useBarKeys(
  list: RefObject<HTMLElement | null>,
  bars: readonly Valued[],
  show: (bar: number | undefined) => void,
) {
  const [place, setPlace] = useState<BarPlace>();
  const last = Math.max(0, bars.length - 1);
  const known = place ?? { bar: last, part: 0 };
  const isThere = known.bar <= last && (known.part === 0 || bars[known.bar]?.values[known.part - 1] !== 0);
  const current = isThere ? known : { bar: Math.min(known.bar, last), part: 0 };
  const onFocus = (bar: number, part: number) => {
    setPlace({ bar, part });
    show(bar);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return show(undefined);
    if (event.altKey || event.ctrlKey || event.metaKey) return undefined;
    const next = placeAfter(event.key, current, bars);
    if (!next) return undefined;
    event.preventDefault();
    return list.current
      ?.querySelector<HTMLElement>(`[data-bar="${next.bar}"][data-part="${next.part}"]`)
      ?.focus();
  };
  return { current, onKeyDown, onFocus };
}
