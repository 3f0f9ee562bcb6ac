/** A storage of the browser, or one without effect where the browser forbids storage. */
export type Keeper = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** The form of a store's id. */
export const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Undefined if the text is no JSON. An error here would leave the page empty. */
export function parse<T>(text: string | null): T | undefined {
  try {
    return JSON.parse(text ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}
