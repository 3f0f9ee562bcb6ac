/**
 * The query of a browser leg. An empty parameter counts as absent, and repeated parameters are known (RFC 6749, section
 * 3.1). The text is kept as it was sent, because parameters are passed on unchanged.
 */
export type Parameters = {
  get(name: string): string | undefined;
  /** As it was sent, byte for byte, except for characters that a query cannot contain, which are encoded. */
  asSent(name: string): string | undefined;
  isRepeated(...names: string[]): boolean;
};

/**
 * Characters that must not be raw in a query, and the semicolon, which some servers read as a separator: passed on raw,
 * it would let a storefront add parameters to the provider's request.
 */
const UNSENDABLE = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$'()*+,:@/?=%]/gu;

/** Many more than any request has. Further parameters are not read, because decoding thousands of them takes time. */
const MAX_READ = 500;

export function readParameters(search: string): Parameters {
  const found = new Map<string, { value: string; sent: string }[]>();
  for (const pair of search.split("&", MAX_READ)) {
    const [name, value] = readPair(pair);
    if (value === "") continue;
    const one = { value, sent: pair.slice(pair.indexOf("=") + 1) };
    const before = found.get(name);
    if (before) before.push(one);
    else found.set(name, [one]);
  }
  const first = (name: string) => found.get(name)?.[0];
  return {
    get: (name) => first(name)?.value,
    asSent: (name) => first(name)?.sent.toWellFormed().replaceAll(UNSENDABLE, encodeURIComponent),
    isRepeated: (...names) => names.some((name) => (found.get(name)?.length ?? 0) > 1),
  };
}

/** The parameters with these names as a query, each as it was sent, or as `changed` has it. */
export const sentAgain = (
  parameters: Parameters,
  names: readonly string[],
  changed: Record<string, string> = {},
): string =>
  names
    .map((name) => [name, changed[name] ?? parameters.asSent(name)])
    .filter(([, sent]) => sent !== undefined)
    .map((pair) => pair.join("="))
    .join("&");

/** Decodes as URLSearchParams does, which costs more than all the rest when nothing is encoded. */
function readPair(pair: string): [name: string, value: string] {
  const end = pair.indexOf("=");
  if (end > 0 && !/[%+]/.test(pair) && pair.isWellFormed()) return [pair.slice(0, end), pair.slice(end + 1)];
  // The ampersand keeps a question mark at the beginning of a name.
  const [first = ["", ""]] = new URLSearchParams(`&${pair}`);
  return first;
}

/** Appends to an existing query, byte for byte. Parameters without a value are left out. */
export function withParameters(uri: string, parameters: Record<string, string | undefined>): string {
  const query = Object.entries(parameters)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");
  const joint = !uri.includes("?") ? "?" : /^[^?]*\?$|&$/.test(uri) ? "" : "&";
  return `${uri}${joint}${query}`;
}
