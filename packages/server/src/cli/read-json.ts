/** The members of a JSON object from elsewhere, unchecked; `undefined` if the text is not JSON. */
export function readJson<T = Record<string, unknown>>(text: string): T | undefined {
  try {
    return Object(JSON.parse(text));
  } catch {
    return undefined;
  }
}
