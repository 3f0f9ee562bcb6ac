/** For whoever only reads: most requests have no query, and an empty one costs as much to make as a short one. */
export const NO_PARAMETERS = new URLSearchParams();

/**
 * A query or a form as names and values; nothing where it cannot be text. URLSearchParams alone would put U+FFFD for bytes
 * that are not UTF-8, half a surrogate pair among them, so that different texts become one. NUL PostgreSQL cannot keep.
 */
export function readPercentEncoded(encoded: string): URLSearchParams | undefined {
  if (encoded === "") return NO_PARAMETERS;
  try {
    // A percent sign that begins no byte stands for itself, as it does for URLSearchParams.
    const text = decodeURIComponent(encoded.replaceAll(/%(?![\da-f]{2})/gi, "%25"));
    if (text.includes("\0") || !text.isWellFormed()) return undefined;
  } catch {
    return undefined;
  }
  return new URLSearchParams(encoded);
}
