import type { Shop } from "../contract/browser.ts";
import { consoleUrlOf } from "../contract/console.ts";
import type { Realm } from "./realm.ts";
import { faultOfShownUrl } from "./redirect-uri.ts";

/** The name of a new store's realm. It means nothing to shoppers, so pages do not show it. */
export const FIRST_REALM_NAME = "Customers";

/** The shop on Latchkey's pages. Checks the addresses again, because rows can be older than the rule. */
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

/** Characters that change the direction of the text after them, even beyond the end of the name. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
