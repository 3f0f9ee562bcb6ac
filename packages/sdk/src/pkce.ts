/** RFC 7636. Each sign-on has a verifier of its own, which does not leave the browser before the code is redeemed. */

/** 256 random bits, as 43 characters that fit into any URL or header. */
export const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

export async function challengeOf(verifier: string): Promise<string> {
  // Browsers leave it out where a page came over plain http.
  if (!crypto.subtle) throw new TypeError("Sign-on needs a page that came over https, or from localhost.");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => ({ "+": "-", "/": "_" })[char] ?? "");
