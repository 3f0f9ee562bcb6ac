import { ApiError, beginMemberSignOn, completeMemberSignOn, type MemberToken } from "@latchkey/sdk/admin";

/**
 * A member's sign-on. Stored on the device: the ids of store and realm (for the tab; after a sign-in also for
 * later tabs). Stored for the tab: the path to return to, and a mark that a member is signed in. The SDK
 * stores the verifier of the open sign-on in the tab's storage. ADR 34 has the reasons.
 */
type Place = { store: string; realm: string };

const PLACE = "latchkey:console:place";
const BACK = "latchkey:console:back";
const HERE = "latchkey:console:signed-in";
const ID = /^[0-9a-f-]{36}$/;

const NOWHERE = { getItem: () => null, setItem() {}, removeItem() {} };

/** Reading the name of a storage throws if the browser forbids storage. */
function storageOf(name: "sessionStorage" | "localStorage"): Pick<Storage, keyof typeof NOWHERE> {
  try {
    return window[name];
  } catch {
    return NOWHERE;
  }
}
const ofTab = storageOf("sessionStorage");
const ofDevice = storageOf("localStorage");

/** Without storage no sign-on can be completed, because its verifier would be lost. */
export const canKeep = ofTab !== NOWHERE;

const options = () => ({ baseUrl: location.origin, storage: ofTab });
const redirectUri = () => `${location.origin}/console/signed-in`;

/** The store and realm of the URL that members get, or of the last sign-in. */
export function findPlace(search: string): Place | undefined {
  const given = new URLSearchParams(search);
  // The tab's own value first, because another tab may use another store.
  const kept = read(ofTab) ?? read(ofDevice);
  const store = given.get("store") ?? kept?.store ?? "";
  const realm = given.get("realm") ?? kept?.realm ?? "";
  return ID.test(store) && ID.test(realm) ? { store, realm } : undefined;
}

/**
 * The store and realm of an earlier sign-in in this browser. Only there may a sign-on begin automatically,
 * because a URL may come from anyone and name a stranger's store.
 */
export const findKept = (): Place | undefined => read(wasSignedIn() ? ofTab : ofDevice);

export const isSame = (one: Place, other: Place | undefined): boolean =>
  one.store === other?.store && one.realm === other.realm;

/** Undefined if the stored text has another form. An error here would leave the page empty. */
function read(storage: typeof ofTab): Place | undefined {
  try {
    return JSON.parse(storage.getItem(PLACE) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Leaves this page. `none`: the provider shows no page; a person without a session there comes back with an
 * error. `login`: the provider asks for a sign-in, even with a session.
 */
export async function leaveToSignIn(place: Place, back: string, prompt?: "none" | "login"): Promise<void> {
  ofTab.setItem(PLACE, JSON.stringify(place));
  ofTab.setItem(BACK, back);
  ofTab.removeItem(HERE);
  const { url } = await beginMemberSignOn(options(), {
    storeId: place.store,
    realmId: place.realm,
    redirectUri: redirectUri(),
    prompt,
  });
  location.assign(url);
}

/** The stored path, which works once. Only a path of the console counts. */
function takeBack(): string {
  const back = ofTab.getItem(BACK) ?? "/";
  ofTab.removeItem(BACK);
  return /^\/(?![/\\])/.test(back) ? back : "/";
}

type Returned = { back: string } & ({ token: MemberToken; error?: undefined } | { error: ApiError });

export async function comeBack(url: string): Promise<Returned> {
  const back = takeBack();
  try {
    const token = await completeMemberSignOn(options(), url);
    keepPlace(url);
    return { back, token };
  } catch (error) {
    if (error instanceof ApiError) return { back, error };
    throw error;
  }
}

/** Reads store and realm from `iss` of the answer, which the SDK has verified. */
function keepPlace(url: string): void {
  const issuer = new URL(url).searchParams.get("iss") ?? "";
  const [, store, realm] = /\/stores\/([^/]+)\/realms\/([^/]+)$/.exec(issuer) ?? [];
  for (const storage of [ofTab, ofDevice]) storage.setItem(PLACE, JSON.stringify({ store, realm }));
  ofTab.setItem(HERE, "1");
}

/** After a reload the token is gone, but the provider may still have a session. */
export const wasSignedIn = (): boolean => ofTab.getItem(HERE) !== null;
export const forgetSignedIn = (): void => ofTab.removeItem(HERE);

/** Errors of `prompt=none` that are no failures: the person must use the sign-in button. */
const ASKS = new Set([
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
]);
export const mustAsk = ({ code }: ApiError): boolean => ASKS.has(code);
