import type { CustomerToken } from "@latchkey/sdk";

/**
 * Stores the customer token for every tab of the shop, with the name for the bar. Scripts can read it, so the
 * policy of the pages allows only their own scripts.
 */
type Kept = { token: CustomerToken; name: string };

export const KEPT = "alder:token";

export function keptToken(): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "") as Kept;
    return kept.token.token ? kept : undefined;
  } catch {
    return undefined;
  }
}

export function keepToken(token: CustomerToken, name = ""): void {
  localStorage.setItem(KEPT, JSON.stringify({ token, name } satisfies Kept));
}

export function forgetToken(): void {
  localStorage.removeItem(KEPT);
}
