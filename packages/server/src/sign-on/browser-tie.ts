import { randomBytes } from "node:crypto";
import type { BrowserRequest } from "../contract/browser.ts";
import { readCookie } from "../lib/cookie.ts";
import { hashesEqual } from "../lib/secrets.ts";
import { digest, isDigest, type SignOnAttempt } from "./attempt.ts";

/** Cookies tie a sign-on to the browser in which it began. Its attempt has the digest of their value. */

type Deps = { publicUrl: string };

/** Ties the sign-on to this browser: by the value in its cookie, or by a new value and cookie. */
export function knowBrowser(
  { publicUrl }: Deps,
  cookieHeader: string | undefined,
): { digest: string; answer: { setCookies?: string[] } } {
  const sent = readCookie(cookieHeader, browserCookieName(publicUrl));
  if (isDigest(sent)) return { digest: digest(sent), answer: {} };
  const made = newBrowserValue();
  const madeDigest = digest(made);
  return { digest: madeDigest, answer: { setCookies: browserCookies(publicUrl, made, madeDigest) } };
}

/** Deletes the cookies that tie sign-ons to this browser. Sign-ons that began in it can then no longer be finished. */
export function forgetBrowser({ publicUrl }: Deps, cookieHeader: string | undefined): string[] {
  const shared = browserCookieName(publicUrl);
  const isOwn = (name: string) =>
    name === shared || (name.startsWith(`${shared}.`) && /^[\w-]$/.test(name.slice(shared.length + 1)));
  const sent = (cookieHeader ?? "").split(";").map((pair) => pair.split("=")[0]?.trim() ?? "");
  const own = new Set(sent.filter(isOwn));
  return [...own].map((name) => browserCookie(publicUrl, name, "", "; Max-Age=0"));
}

/** A sign-on must end in the browser in which it began. Otherwise an attacker could finish it in a victim's browser. */
export function isSameBrowser(
  { publicUrl }: Deps,
  { browserDigest }: Pick<SignOnAttempt, "browserDigest">,
  { cookie }: BrowserRequest,
): boolean {
  return browserCookieNames(publicUrl, browserDigest).some((name) => {
    const value = readCookie(cookie, name);
    return value !== undefined && hashesEqual(digest(value), browserDigest);
  });
}

/** A random value that ties sign-ons to their browser. A browser has one value for all its tabs. */
export const newBrowserValue = (): string => randomBytes(32).toString("base64url");

/** `__Host-` keeps other hosts of the domain from setting this cookie. Browsers accept the prefix over https only. */
export const browserCookieName = (publicUrl: string): string =>
  publicUrl.startsWith("https:") ? "__Host-latchkey" : "latchkey";

/**
 * Two cookies keep a browser's value: one under the shared name, one under a name from its digest. If two tabs begin at
 * once without a value, the second answer overwrites the shared cookie of the first. There are only 64 names, so the
 * cookies of a browser stay few.
 */
const browserCookieNames = (publicUrl: string, browserDigest: string): string[] => {
  const shared = browserCookieName(publicUrl);
  return [shared, `${shared}.${browserDigest.slice(0, 1)}`];
};

export const browserCookies = (publicUrl: string, value: string, browserDigest: string): string[] =>
  browserCookieNames(publicUrl, browserDigest).map((name) => browserCookie(publicUrl, name, value));

const browserCookie = (publicUrl: string, name: string, value: string, lifetime = ""): string =>
  `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${lifetime}${publicUrl.startsWith("https:") ? "; Secure" : ""}`;
