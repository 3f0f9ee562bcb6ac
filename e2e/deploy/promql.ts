import type { Exposed } from "../../packages/server/test/support/exposition.ts";

/**
 * Reads the part of PromQL that the repository's expressions use: the selected series, and the labels they group by.
 */
type Matcher = { label: string; operator: "=" | "!=" | "=~" | "!~"; value: string };
type Selector = { metric: string; matchers: Matcher[] };

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const WORDS = new Set(["and", "or", "unless", "bool", "offset", "inf", "nan"]);

export const groupingsOf = (expression: string): string[] =>
  [...expression.matchAll(GROUPING)].flatMap(([, labels = ""]) =>
    labels
      .split(",")
      .map((label) => label.trim())
      .filter((label) => label !== ""),
  );

export function selectorsOf(expression: string): Selector[] {
  const plain = expression.replaceAll(GROUPING, " ").replaceAll(/\[[^\]]*\]/g, " ");
  const found = plain.matchAll(
    /(?<![\w"$.])([a-zA-Z_:][\w:]*)\s*(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\})?\s*(\()?/g,
  );
  return [...found].flatMap(([, metric = "", inner = "", isFunction]) =>
    isFunction || WORDS.has(metric.toLowerCase()) ? [] : [{ metric, matchers: matchersOf(inner) }],
  );
}

const matchersOf = (inner: string): Matcher[] =>
  [...inner.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = "", operator, value = ""]) => ({
      label,
      operator: operator as Matcher["operator"],
      value: value.replaceAll("\\\\", "\\"),
    }),
  );

/** Labels that Prometheus adds to every series. */
const SCRAPED = ["job", "instance"];
const OWN_METRICS = new Set(["up"]);

/**
 * The metrics, labels and label values of an expression that a service does not expose. `known` has the values that a
 * label can have beyond those that were seen.
 */
export function faultsOf(
  expression: string,
  exposed: Exposed,
  known: Record<string, readonly string[]>,
): string[] {
  const selectors = selectorsOf(expression);
  const labels = new Set(SCRAPED);
  const faults: string[] = [];
  for (const { metric, matchers } of selectors) {
    const series = exposed.series.filter(({ name }) => name === metric);
    if (series.length === 0 && !OWN_METRICS.has(metric)) faults.push(`there is no metric ${metric}`);
    for (const label of series.flatMap((one) => Object.keys(one.labels))) labels.add(label);
    for (const { label, operator, value } of matchers) {
      if (SCRAPED.includes(label) || series.length === 0) continue;
      const seen = series.flatMap((one) => one.labels[label] ?? []);
      if (seen.length === 0) faults.push(`${metric} has no label ${label}`);
      const values = [...seen, ...(known[label] ?? [])];
      const isPattern = operator.endsWith("~");
      // Each alternative of a pattern must match a value: an alternative that matches nothing is a typing mistake.
      for (const way of isPattern ? value.split("|") : [value])
        if (
          seen.length > 0 &&
          !values.some((one) => (isPattern ? new RegExp(`^(?:${way})$`).test(one) : one === way))
        )
          faults.push(`${label} of ${metric} is never ${way}`);
    }
  }
  if (selectors.length === 0) faults.push("it selects nothing");
  for (const label of groupingsOf(expression))
    if (!labels.has(label)) faults.push(`nothing has the label ${label} that it groups by`);
  return faults;
}
