import type { Provider } from "@latchkey/sdk";
import { noteStep } from "../wire/wire-log.ts";
import { departureStep } from "../wire/wire-steps.ts";
import { latchkey, redirectUri } from "./latchkey.ts";

/** The shop's own state of a sign-on. The SDK stores the secret part separately. */
type Begun = { providerId: string; isPopup: boolean; isDirect: boolean; begunAt: number };

/** In localStorage, because a popup has its own sessionStorage. */
const BEGUN = "alder:begun:";
const FORGET_AFTER_MS = 15 * 60_000;

type Way = { isPopup: boolean; afterRefusal?: boolean };

export async function beginSignOn(
  provider: Pick<Provider, "id" | "flow">,
  { isPopup, afterRefusal = false }: Way,
): Promise<{ url: string; state: string }> {
  const shop = await latchkey();
  const begun = await shop.beginSignOn(provider.id, {
    redirectUri: redirectUri(),
    // With `profile` the customer gets a name.
    scope: "openid email profile",
    ...(isPopup && { display: "popup" }),
    // The provider remembers the last person, and would send the same person back to the same refusal.
    ...(afterRefusal ? { prompt: "login" } : hasLeft() && { prompt: "select_account" }),
  });
  const isDirect = provider.flow === "direct";
  remember(begun.state, { providerId: provider.id, isPopup, isDirect, begunAt: Date.now() });
  noteStep(departureStep(begun.url, isDirect));
  return begun;
}

const LEFT = "alder:left";

/**
 * After a sign-out the next sign-on lets the shopper choose an account, although the provider still has a
 * session.
 */
export const askWhoNextTime = (): void => localStorage.setItem(LEFT, "yes");

const hasLeft = (): boolean => localStorage.getItem(LEFT) !== null;

/** The shopper has signed in again. */
export const forgetLeaving = (): void => localStorage.removeItem(LEFT);

export function findBegun(state: string | null): Begun | undefined {
  try {
    return JSON.parse(localStorage.getItem(BEGUN + state) ?? "") as Begun;
  } catch {
    return undefined;
  }
}

function remember(state: string, begun: Begun): void {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(BEGUN)) continue;
    const old = findBegun(key.slice(BEGUN.length));
    if (!old || old.begunAt + FORGET_AFTER_MS < Date.now()) localStorage.removeItem(key);
  }
  localStorage.setItem(BEGUN + state, JSON.stringify(begun));
}
