const MAX_SHOWN_LENGTH = 200;

/** A value from outside, for display: short, on one line, without control characters. */
export function show(value: unknown, maxLength = MAX_SHOWN_LENGTH): string {
  if (value === undefined) return "absent";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.slice(0, maxLength).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
