const MAX_SHOWN_LENGTH = 200;

/** A value from outside, for people to read: short, on one line, nothing that moves the rest of it. */
export function show(value: unknown, maxLength = MAX_SHOWN_LENGTH): string {
  if (value === undefined) return "absent";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.slice(0, maxLength).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
