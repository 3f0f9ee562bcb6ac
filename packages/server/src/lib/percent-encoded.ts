/** An empty result for requests without a query, which are most; making one costs as much as parsing a short query. */
export const NO_PARAMETERS = new URLSearchParams();

/**
 * A query or a form as names and values; undefined when it is not valid text. URLSearchParams alone would replace
 * invalid UTF-8 with U+FFFD, so that different texts become equal. NUL is refused, because PostgreSQL cannot store it.
 */
export function readPercentEncoded(encoded: string): URLSearchParams | undefined {
  if (encoded === "") return NO_PARAMETERS;
  try {
    // A percent sign without two hexadecimal digits is literal, as in URLSearchParams.
    const text = decodeURIComponent(encoded.replaceAll(/%(?![\da-f]{2})/gi, "%25"));
    if (text.includes("\0") || !text.isWellFormed()) return undefined;
  } catch {
    return undefined;
  }
  return new URLSearchParams(encoded);
}
