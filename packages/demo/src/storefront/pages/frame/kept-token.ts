import type { CustomerToken } from "@latchkey/sdk";

/**
 * The customer token, kept so that every tab of the shop has it. Scripts can read it there: that is why the policy of these
 * pages lets no script in but their own. The name is kept beside it, so that the bar need not wait for an answer.
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
