/** The known word that a person probably meant: one or two typing errors away, or the only word with this beginning. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const given = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(given.length / 4));
  const [best] = known
    .map((candidate) => ({ candidate, slips: slipsBetween(given, candidate.toLowerCase()) }))
    .filter(({ slips }) => slips <= allowed)
    .toSorted((a, b) => a.slips - b.slips);
  if (best) return best.candidate;
  const begun =
    given.length < 2 ? [] : known.filter((candidate) => candidate.toLowerCase().startsWith(given));
  return begun.length === 1 ? begun[0] : undefined;
}

/** The number of omitted, added, replaced or swapped letters (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
