/** The metrics of /metrics, read as Prometheus reads them. */
type Series = { name: string; labels: Record<string, string>; value: number };
export type Exposed = {
  /** The metrics by name, with their types; a histogram once, under the name without suffix. */
  types: Map<string, string>;
  series: Series[];
  /** The sum of the series with these labels. */
  sumOf(name: string, labels?: Record<string, string>): number;
};

export function readExposition(text: string): Exposed {
  const types = new Map<string, string>();
  const series: Series[] = [];
  for (const line of text.split("\n")) {
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (typed && type) types.set(typed, type);
    const [, name, inner = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name) series.push({ name, labels: readLabels(inner), value: Number(value) });
  }
  return {
    types,
    series,
    sumOf: (name, labels = {}) =>
      series
        .filter((one) => one.name === name)
        .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value))
        .reduce((sum, one) => sum + one.value, 0),
  };
}

const readLabels = (inner: string): Record<string, string> =>
  Object.fromEntries(
    [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value]),
  );
