import type { Entry, Figures } from "./figures.ts";

/** The sign-ons at one provider, or by one key, from the redirect to the end. */
export type FunnelRow = {
  id: string | null;
  /** At least as many as returned: redirects are counted up to a minute later, and not at all for `direct`. */
  started: number;
  returned: number;
  neverBack: number;
  signedIn: number;
  unfinished: number;
  failed: number;
  /** The provider's times in the latest step in which it was called. */
  latest: { at: number; p50: number; p95: number } | undefined;
};

const emptyRow = (id: string | null): FunnelRow => ({
  id,
  started: 0,
  returned: 0,
  neverBack: 0,
  signedIn: 0,
  unfinished: 0,
  failed: 0,
  latest: undefined,
});

/** The row with the most sign-ons is first; the row without a known provider or key is last. */
export function funnelOf({ entries, from, to }: Pick<Figures, "entries" | "from" | "to">): FunnelRow[] {
  const rows = new Map<string | null, FunnelRow>();
  for (const entry of entries) {
    if (entry.at < from || entry.at >= to) continue;
    const row = rows.get(entry.id) ?? emptyRow(entry.id);
    rows.set(entry.id, row);
    addTo(row, entry);
  }
  for (const row of rows.values()) {
    row.returned = row.signedIn + row.unfinished + row.failed;
    row.started = Math.max(row.started, row.returned);
    row.neverBack = row.started - row.returned;
  }
  return [...rows.values()]
    .filter(({ started }) => started > 0)
    .toSorted((a, b) => Number(a.id === null) - Number(b.id === null) || b.started - a.started);
}

function addTo(row: FunnelRow, { at, outcomes, idpMs }: Entry): void {
  row.started += outcomes.started ?? 0;
  row.signedIn += outcomes.exchanged ?? 0;
  row.unfinished += (outcomes.code_issued ?? 0) + (outcomes.expired ?? 0);
  row.failed += outcomes.failed ?? 0;
  const { p50, p95 } = idpMs;
  if (p50 !== null && p95 !== null && at >= (row.latest?.at ?? 0)) row.latest = { at, p50, p95 };
}

/** "98 %": never 100 % or 0 % unless it is all or none. */
export function shareInWords(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (part / whole) * 100;
  if (part > 0 && percent < 1) return "< 1 %";
  if (part < whole && percent > 99) return "> 99 %";
  return `${Math.round(percent)} %`;
}
