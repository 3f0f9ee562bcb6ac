/**
 * The query of a browser leg. An empty parameter is an absent one, and which came twice is known (RFC 6749 3.1). The text
 * as it was sent is kept beside the value: what is passed on must be passed on unchanged.
 */
export type Parameters = {
  get(name: string): string | undefined;
  /** As it was sent, byte for byte, but for what may not stand in a query, which is encoded. */
  asSent(name: string): string | undefined;
  isRepeated(...names: string[]): boolean;
};

/**
 * What may not stand raw in a query, and the semicolon, which some servers read as the end of a parameter: whoever
 * passes it on raw lets the storefront smuggle parameters of its own to the provider.
 */
const UNSENDABLE = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$'()*+,:@/?=%]/gu;

/** Many more than any request has. What comes after them is not read: each must be decoded, and thousands fit into a form. */
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

/** As URLSearchParams reads it, which costs more than all the rest where nothing is encoded. */
function readPair(pair: string): [name: string, value: string] {
  const end = pair.indexOf("=");
  if (end > 0 && !/[%+]/.test(pair) && pair.isWellFormed()) return [pair.slice(0, end), pair.slice(end + 1)];
  // The ampersand in front keeps a question mark at the beginning of a name where it is.
  const [first = ["", ""]] = new URLSearchParams(`&${pair}`);
  return first;
}

/** Appends to whatever query is there, byte for byte; parameters without a value are left out. */
export function withParameters(uri: string, parameters: Record<string, string | undefined>): string {
  const query = Object.entries(parameters)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&");
  const joint = !uri.includes("?") ? "?" : /^[^?]*\?$|&$/.test(uri) ? "" : "&";
  return `${uri}${joint}${query}`;
}
