import { ApiError, beginMemberSignOn, completeMemberSignOn, type MemberToken } from "@latchkey/sdk/admin";

/**
 * A member's way in and back. What is kept on the device: which store and realm (ids, not secret; for this tab, and for the next one as
 * soon as somebody has signed in there), and for this tab where to go back to and that somebody is signed in here. The SDK keeps the
 * verifier of the open sign-on in the tab's storage until it comes back. ADR 34 says why each.
 */
type Place = { store: string; realm: string };

const PLACE = "latchkey:console:place";
const BACK = "latchkey:console:back";
const HERE = "latchkey:console:signed-in";
const ID = /^[0-9a-f-]{36}$/;

const NOWHERE = { getItem: () => null, setItem() {}, removeItem() {} };

/** Where the browser forbids a page to keep anything, already the name throws. */
function storageOf(name: "sessionStorage" | "localStorage"): Pick<Storage, keyof typeof NOWHERE> {
  try {
    return window[name];
  } catch {
    return NOWHERE;
  }
}
const ofTab = storageOf("sessionStorage");
const ofDevice = storageOf("localStorage");

/** Without it nobody comes back from a provider: what their sign-on began with is gone. */
export const canKeep = ofTab !== NOWHERE;

const options = () => ({ baseUrl: location.origin, storage: ofTab });
const redirectUri = () => `${location.origin}/console/signed-in`;

/** From the address that people were sent, or from the last time. */
export function findPlace(search: string): Place | undefined {
  const given = new URLSearchParams(search);
  // This tab's own first: another may be at another store.
  const kept = read(ofTab) ?? read(ofDevice);
  const store = given.get("store") ?? kept?.store ?? "";
  const realm = given.get("realm") ?? kept?.realm ?? "";
  return ID.test(store) && ID.test(realm) ? { store, realm } : undefined;
}

/**
 * Where somebody has signed in from here. Only there a sign-on may begin by itself: an address may come from anybody, and lead to the
 * store of whoever sent it.
 */
export const findKept = (): Place | undefined => read(wasSignedIn() ? ofTab : ofDevice);

export const isSame = (one: Place, other: Place | undefined): boolean =>
  one.store === other?.store && one.realm === other.realm;

/** Nothing, where something else has written there: the console is drawn with the answer, and a throw would leave the page empty. */
function read(storage: typeof ofTab): Place | undefined {
  try {
    return JSON.parse(storage.getItem(PLACE) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Leaves this page. `none`: nobody is asked anything, and who has no session at the provider comes back with an error. `login`: the
 * provider asks who it is, also where it knows somebody.
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

/** Where one was, once. An address of ours and no other. */
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

/** By the issuer that has answered, which the SDK has compared with the one that was asked. */
function keepPlace(url: string): void {
  const issuer = new URL(url).searchParams.get("iss") ?? "";
  const [, store, realm] = /\/stores\/([^/]+)\/realms\/([^/]+)$/.exec(issuer) ?? [];
  for (const storage of [ofTab, ofDevice]) storage.setItem(PLACE, JSON.stringify({ store, realm }));
  ofTab.setItem(HERE, "1");
}

/** A reload has forgotten the token, but the provider may still know the person. */
export const wasSignedIn = (): boolean => ofTab.getItem(HERE) !== null;
export const forgetSignedIn = (): void => ofTab.removeItem(HERE);

/** What `prompt=none` is answered with where somebody must be asked: no failure, only a reason to show the button. */
const ASKS = new Set([
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
]);
export const mustAsk = ({ code }: ApiError): boolean => ASKS.has(code);
