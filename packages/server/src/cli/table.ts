/** Aligned columns for people. Programs use --json. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ""))));
  const isNumber = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const room = " ".repeat((widths[column] ?? 0) - widthOf(cell));
          return isNumber[column] ? room + cell : cell + room;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const letters = new Intl.Segmenter();
/** Characters two columns wide: East Asian wide letters, and emoji. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3ffff}]|\p{Emoji_Presentation}|\ufe0f/u;

/** The width of a text in columns. A letter with its marks counts once. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of letters.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
