import { findClient } from "../access/authenticate-client.ts";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, sentAgain } from "../lib/query-parameters.ts";
import { seal, unseal } from "../lib/seal.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Realm } from "../realms/realm.ts";
import { getSettings } from "../realms/settings.ts";
import { forgetBrowser, isSameBrowser, knowBrowser } from "../sign-on/browser-tie.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * A sign-out without an ID token: a page asks the shopper, because any page can send a browser here. Yes deletes this
 * browser's cookie, which cancels its unfinished sign-ons. No customer token ends, because none is tied to a browser.
 */

type Deps = { publicUrl: string; storage: Storage; clock: Clock; keyring: Keyring };

const PURPOSE = "sign-out";
const contextOf = ({ store_id: storeId, id }: Realm): string => `${storeId}/${id}/question`;

/** The parameters that the form's address repeats. */
const SENT_AGAIN = ["post_logout_redirect_uri", "state", "client_id", "ui_locales"];

/** `goal`: the answer after Yes. Anything but a Yes from this browser shows the question again. */
export async function confirmSignOut(
  deps: Deps,
  realm: Realm,
  asked: Parameters,
  request: BrowserRequest,
  goal: BrowserAnswer | undefined,
): Promise<BrowserAnswer> {
  const clientId = asked.get("client_id");
  if (clientId !== undefined && !(await isClientOf(deps, realm, clientId)))
    throw new Problem("sign_on_client_unknown");
  if (request.isForm && isConfirmed(deps, realm, asked.get("confirmation"), request)) {
    const setCookies = forgetBrowser(deps, request.cookie);
    return { ...(goal ?? { page: "sign_ins_ended" }), setCookies };
  }
  const browser = knowBrowser(deps, request.cookie);
  const kept = JSON.stringify({ browserDigest: browser.digest, askedAt: deps.clock.now() });
  const query = sentAgain(asked, SENT_AGAIN);
  const urls = [deps.publicUrl, asked.get("post_logout_redirect_uri") ?? ""];
  const question = {
    action: `${issuerOf(deps, realm.store_id, realm.id)}/end-session${query && `?${query}`}`,
    confirmation: seal(deps.keyring, PURPOSE, contextOf(realm), kept),
    httpOrigins: urls.filter((url) => url.startsWith("http:")).map((url) => new URL(url).origin),
  };
  return { question, ...browser.answer };
}

/** A Yes counts only in the browser that got the question: another site has no confirmation for its cookie. */
function isConfirmed(
  deps: Deps,
  realm: Realm,
  confirmation: string | undefined,
  request: BrowserRequest,
): boolean {
  const kept = unseal(deps.keyring, PURPOSE, contextOf(realm), confirmation ?? "");
  if (kept === undefined) return false;
  const { browserDigest, askedAt } = JSON.parse(kept) as { browserDigest: string; askedAt: number };
  const isOver = deps.clock.now() >= askedAt + limits.attemptSeconds * 1000;
  return !isOver && isSameBrowser(deps, { browserDigest }, request);
}

async function isClientOf(
  { storage }: Deps,
  { store_id: storeId }: Realm,
  clientId: string,
): Promise<boolean> {
  const settings = await getSettings({ storage }, storeId);
  return clientId === settings.client_id || (await findClient(storage.db, clientId))?.storeId === storeId;
}
