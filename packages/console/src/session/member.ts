import {
  ApiError,
  beginMemberSignOn,
  completeMemberSignOn,
  findMemberSignIn,
  type MemberToken,
} from "@latchkey/sdk/admin";
import type { Keeper } from "./keeper.ts";
import { openPlaces } from "./places.ts";

/** A member's sign-on. The SDK stores the verifier of the open sign-on in the tab's storage. */

const NOWHERE = { getItem: () => null, setItem() {}, removeItem() {} };

/** Reading the name of a storage throws if the browser forbids storage. */
function storageOf(name: "sessionStorage" | "localStorage"): Keeper {
  try {
    return window[name];
  } catch {
    return NOWHERE;
  }
}
const ofTab = storageOf("sessionStorage");

/** Without storage no sign-on can be completed, because its verifier would be lost. */
export const canKeep = ofTab !== NOWHERE;

/** For notes that later tabs read. */
export const ofDevice = storageOf("localStorage");

export const places = openPlaces(ofTab, ofDevice);

// Functions, because unit tests import this file where there is no `location`.
const service = () => ({ baseUrl: location.origin });
const options = () => ({ ...service(), storage: ofTab });
const redirectUri = () => `${location.origin}/console/signed-in`;

/** Why the console does not send the person to a provider. */
export class NoWayIn extends Error {
  readonly isStoreGone: boolean;

  constructor(isStoreGone: boolean) {
    super(
      isStoreGone
        ? "This service has no sign-in for members of that store. The ID may be mistyped, or the store or its sign-in was removed. Ask an administrator of your store for the address."
        : `Members of that store cannot return to ${location.origin}. Open the console at the address that an administrator sent you, or ask an administrator to add ${redirectUri()} to the redirect URIs of the realm for members.`,
    );
    this.isStoreGone = isStoreGone;
  }
}

/** The only store of the service that has a sign-in for members. */
export const findOnlyStore = async (): Promise<string | null> =>
  (await findMemberSignIn(service(), {}))?.storeId ?? null;

type Manner = {
  /**
   * `none`: the provider shows no page; a person without a session there comes back with an error. `login`: the
   * provider asks for a sign-in, even with a session.
   */
  prompt?: "none" | "login" | undefined;
  /** Back, pressed at the provider, returns to this page. Otherwise the sign-on adds nothing to the history. */
  isStep?: boolean;
  /** Asked at the last moment: the person may have begun to type while the service was asked. */
  mayLeave?: () => boolean;
};

/**
 * Leaves this page for the store's provider. First asks the service whether the sign-on can begin, because it
 * would answer the browser with a page for shoppers.
 */
export async function leaveToSignIn(
  store: string,
  back: string,
  { prompt, isStep, mayLeave }: Manner,
): Promise<void> {
  const found = await findMemberSignIn(service(), { storeId: store, redirectUri: redirectUri() });
  if (!found) places.forget(store);
  if (!found?.isRedirectUriRegistered) throw new NoWayIn(!found);
  const { url, state } = await beginMemberSignOn(options(), {
    storeId: store,
    realmId: found.realmId,
    redirectUri: redirectUri(),
    prompt,
  });
  if (mayLeave?.() === false) return;
  places.leave(store, { state, store, back, isSilent: prompt === "none" });
  if (isStep) location.assign(url);
  else location.replace(url);
}

type Returned = { back: string } & ({ token: MemberToken; error?: undefined } | { error: ApiError });

export async function comeBack(url: string): Promise<Returned> {
  const left = places.comeBack(new URL(url).searchParams.get("state"));
  // Only a path of the console counts.
  const back = /^\/(?![/\\])/.test(left?.back ?? "") ? (left?.back ?? "/") : "/";
  try {
    const token = await completeMemberSignOn(options(), url);
    places.signedIn(storeOfAnswer(url));
    return { back, token };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (left?.isSilent && error.code === "access_denied") places.refused(left.store);
    return { back, error };
  }
}

/** Reads the store from `iss` of the answer, which the SDK has verified. */
const storeOfAnswer = (url: string): string =>
  /\/stores\/([^/]+)\/realms\//.exec(new URL(url).searchParams.get("iss") ?? "")?.[1] ?? "";

/** Errors of `prompt=none` that are no failures: the person must use the sign-in button. */
const ASKS = new Set([
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
]);
export const mustAsk = ({ code }: ApiError): boolean => ASKS.has(code);

/**
 * An answer to a sign-on that this tab has finished already: a page of the provider was opened again with Back.
 * A person who is signed in here needs no explanation.
 */
export const isLate = ({ code }: ApiError): boolean =>
  code === "state_unknown" && places.silent() !== undefined;
