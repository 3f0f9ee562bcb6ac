/** CSV as RFC 4180 has it: commas, CRLF, and quotes where a cell needs them. */

/** A spreadsheet reads a cell that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** A cell that begins like a formula gets a `'` before it, so that a spreadsheet shows it as text. */
export function csvCell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown;
}

export const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;
