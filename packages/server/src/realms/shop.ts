import type { Shop } from "../contract/browser.ts";
import { consoleUrlOf } from "../contract/console.ts";
import type { Realm } from "./realm.ts";
import { faultOfShownUrl } from "./redirect-uri.ts";

/** What a new store's realm is called: a word for administrators, which tells a shopper nothing. */
export const FIRST_REALM_NAME = "Customers";

/**
 * What our pages show of the shop that a shopper came from. Addresses are looked at again: a page shows none that was written before
 * there was the rule. People of the store came from the console.
 */
export function shopOf(deps: { publicUrl: string }, realm: Realm): Shop {
  const showable = (url: string | null) =>
    url !== null && faultOfShownUrl(deps, url) === undefined ? url : null;
  const isForMembers = realm.purpose === "members";
  const usualHome = isForMembers ? (consoleUrlOf(deps.publicUrl) ?? null) : null;
  return {
    name: realm.name === FIRST_REALM_NAME ? null : realm.name.replaceAll(DIRECTIONS, "").trim() || null,
    homeUrl: showable(realm.home_url) ?? usualHome,
    logoUrl: showable(realm.logo_url),
    accentColor: realm.accent_color,
    isForMembers,
  };
}

/** Characters that turn the direction of what follows them, also beyond the name's end. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
