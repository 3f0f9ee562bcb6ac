import type { ReadFile } from "./file.ts";

/** Spreadsheets read a CSV file without this mark in an old code page, and spoil names such as Zoë. */
const BYTE_ORDER_MARK = "\u{feff}";

/** The browser may begin to read the address after the click. */
const KEPT_MS = 60_000;

/** Lets the browser save a file. */
export function saveFile({ name, pieces }: ReadFile, type: "text/csv" | "application/json"): void {
  const parts = type === "text/csv" ? [BYTE_ORDER_MARK, ...pieces] : pieces;
  const address = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
